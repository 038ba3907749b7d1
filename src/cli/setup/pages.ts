import { html, type Html } from "../../http/reference/html.ts";

const page = (title: string, content: Html): string =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
      </head>
      <body>
        <h1>${title}</h1>
        ${content}
      </body>
    </html> `.markup;

/** Sends the manifest to the forge, where it is looked at before anything is made. */
export const startPage = (form: {
  readonly action: string;
  readonly manifest: { readonly name: string; readonly hook_attributes: { readonly url: string } };
  readonly envFile: string;
}): string =>
  page(
    "Make the App",
    html`<p>
        The next page is the forge's: ${new URL(form.action).origin}. It makes the App ${form.manifest.name},
        whose webhooks go to ${form.manifest.hook_attributes.url}, once you agree to it there.
      </p>
      <p>Its key and secret are then written to ${form.envFile} on the machine where the command runs.</p>
      <form method="post" action="${form.action}">
        <input type="hidden" name="manifest" value="${JSON.stringify(form.manifest)}" />
        <button>Go on to the forge</button>
      </form>`,
  );

/** The last page: the command has ended. */
export const madePage = (installUrl: string, envFile: string): string =>
  page(
    "The App is made",
    html`<p>APP_ID, PRIVATE_KEY and WEBHOOK_SECRET are in ${envFile}.</p>
      <p>Next: <a href="${installUrl}">install the App</a> for the repositories of its boards.</p>`,
  );

export const failedPage = (message: string): string => page("The App is not set up", html`<p>${message}</p>`);
