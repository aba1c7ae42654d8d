import type { JSX } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { Checkout, titleOf } from './checkout.tsx';
import { Frame } from './frame.tsx';
import { type MessageKey, translator } from './messages.ts';
import { type ErrorKind, type ErrorModel, type HydrationData, initialProps, type PageModel, type PaymentModel } from './model.ts';
import { Receipt, receiptTitle } from './receipt.tsx';

/** What an error page says (ux E1, E2, E5, E6). */
const ERRORS: Record<ErrorKind, { title: MessageKey; body: MessageKey | null; again: boolean }> = {
  'not-found': { title: 'error.not-found', body: 'error.not-found-body', again: false },
  'api-mode': { title: 'error.api-mode', body: 'error.api-mode-body', again: false },
  busy: { title: 'error.busy', body: null, again: true },
  unavailable: { title: 'error.unavailable', body: 'error.unavailable-body', again: true },
  refused: { title: 'error.refused', body: 'error.refused-body', again: false },
};

/**
 * A whole HTML document: complete without a program, and what the browser's one goes on from. It holds no script and no
 * style of its own, so that the strictest policy serves it (ux 0.7). Pure.
 */
export function renderPage(model: PageModel): string {
  const { language, assets } = model;
  const title = documentTitle(model);
  const document = (
    <html lang={language.tag} dir={language.direction}>
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex" />
        <meta name="format-detection" content="telephone=no" />
        <link rel="icon" href={assets.icon} />
        <link rel="stylesheet" href={assets.style} />
        {assets.script !== null && model.kind !== 'receipt' && <script type="module" src={assets.script} />}
      </head>
      <body>
        {model.kind === 'payment' ? (
          <Hydrated model={model} />
        ) : model.kind === 'receipt' ? (
          <Receipt model={model} />
        ) : (
          <div id="checkout" data-retry-after={model.retryAfterSeconds}>
            <ErrorPage model={model} />
          </div>
        )}
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(document)}`;
}

function documentTitle(model: PageModel): string {
  if (model.kind === 'payment') return titleOf(initialProps(dataOf(model)));
  return model.kind === 'receipt' ? receiptTitle(model) : translator(model.language)(ERRORS[model.error].title);
}

/** A payment's page, with all it was drawn from, as an attribute: data is no script there. */
function Hydrated({ model }: { model: PaymentModel }): JSX.Element {
  const data = dataOf(model);
  return (
    <div id="checkout" data-page={JSON.stringify(data)}>
      <Checkout {...initialProps(data)} />
    </div>
  );
}

function dataOf({ kind: _, assets: __, ...data }: PaymentModel): HydrationData {
  return data;
}

function ErrorPage({ model }: { model: ErrorModel }): JSX.Element {
  const translate = translator(model.language);
  const { title, body, again } = ERRORS[model.error];
  const seconds = model.retryAfterSeconds;
  return (
    <Frame frame={model} translate={translate} merchant={null} testMode={false}>
      <main class="card" data-state={model.error}>
        <div class="title">
          <h1 id="title" tabIndex={-1}>
            {translate(title)}
          </h1>
        </div>
        {seconds !== undefined && model.error === 'busy' && <p>{translate('error.busy-body', { seconds })}</p>}
        {body !== null && <p>{translate(body)}</p>}
        {again && (
          <a class="button button-main" href={model.path} data-part="retry">
            {translate('error.retry')}
          </a>
        )}
      </main>
    </Frame>
  );
}
