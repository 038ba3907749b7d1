import { CSPProvider } from "@base-ui/react/csp-provider";
import { focusManager, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiProblem } from "./api/problem.ts";
import { App, preloadScreen } from "./app.tsx";
import { AnnouncerProvider } from "./components/announcer.tsx";
import { loadDialogs } from "./components/dialog/dialog.tsx";
import { loadMenus } from "./components/menu.tsx";
import { ToastProvider } from "./components/toast.tsx";
import { KeyboardProvider } from "./keyboard/provider.tsx";
import { ErrorBoundary } from "./shell/error-boundary.tsx";
import { applyTheme, storedTheme } from "./shell/theme.ts";
import "./styles/tokens.css";
import "./styles/base.css";

/** Reads are repeated twice after a missing response or a 5xx. A 4xx is final. */
const shouldRetry = (failures: number, error: Error): boolean =>
  failures < 2 && !(error instanceof ApiProblem && error.status < 500);

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: shouldRetry,
      networkMode: "always",
      // The feed reports changes of data.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
    },
  },
});

// By default, TanStack Query does not notice the focus of a window that stayed visible beside another one.
focusManager.setEventListener((onFocus) => {
  const listening = new AbortController();
  for (const event of ["visibilitychange", "focus"])
    window.addEventListener(event, () => onFocus(), { signal: listening.signal });
  return () => listening.abort();
});

preloadScreen(window.location.pathname);
applyTheme(storedTheme());
const root = document.querySelector("#root");
if (!root) throw new Error("the page has no #root");
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <ErrorBoundary>
        <QueryClientProvider client={queries}>
          <AnnouncerProvider>
            <ToastProvider>
              <KeyboardProvider>
                <App />
              </KeyboardProvider>
            </ToastProvider>
          </AnnouncerProvider>
        </QueryClientProvider>
      </ErrorBoundary>
    </CSPProvider>
  </StrictMode>,
);

/** What a page needs for the first click is loaded before it, but not before the page. */
window.addEventListener(
  "load",
  () => setTimeout(() => void Promise.all([loadMenus(), loadDialogs()]), 1_000),
  {
    once: true,
  },
);
