import { useQueryClient } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { Page } from "../api/schema.d.ts";
import { useWrite } from "../api/use-write.ts";
import { useWorkspace } from "../api/workspace.tsx";
import { useToast } from "../components/toast.tsx";
import { usePageAddress } from "./page-address.ts";

interface NewPage {
  readonly title: string;
  readonly body?: string;
  readonly parentId: string | null;
}

/** Creates a page and opens it. `create` throws if that fails. */
export function useCreatePage(): {
  readonly create: (page: NewPage) => Promise<Page>;
  readonly isBusy: boolean;
} {
  const { keys } = useWorkspace();
  const queries = useQueryClient();
  const toast = useToast();
  const [, navigate] = useLocation();
  const addressOf = usePageAddress();
  const { mutateAsync, isPending } = useWrite("POST /v1/docs");
  const create = async (body: NewPage): Promise<Page> => {
    const { data } = await mutateAsync({ body });
    toast({ title: `Page ${data.title} created` });
    void queries.invalidateQueries({ queryKey: keys.list("docs") });
    navigate(addressOf(data.slug));
    return data;
  };
  return { create, isBusy: isPending };
}
