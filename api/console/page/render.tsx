import type { JSX } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { PageModel, ProblemKind, Screen } from './model.ts';
import { Profile } from './profile.tsx';

const PROBLEMS: Record<ProblemKind, { title: string; text: string }> = {
  'not-found': { title: 'There is nothing here', text: 'The address is wrong, or what was here is gone, or it is not yours to see.' },
  'link-gone': {
    title: 'This link does not work',
    text: 'It was used, a newer one took its place, or it is older than 24 hours. Ask whoever invited you for another one.',
  },
  refused: { title: 'That was refused', text: 'Nothing was changed. Open the page again and try once more.' },
  busy: { title: 'Too many attempts', text: 'Wait a minute, then try again.' },
  unavailable: { title: 'That did not work', text: 'Something is wrong on our side. Try again in a moment.' },
};

const TITLES: Record<Exclude<Screen['kind'], 'problem'>, string> = {
  'sign-in': 'Sign in',
  invitation: 'You are invited',
  places: 'Where to?',
  profile: 'Your profile',
};

/** A whole HTML document, complete without a program but for passkeys, without script or style of its own. Pure. */
export function renderConsole({ assets, person, screen, notice }: PageModel): string {
  const title = titleOf(screen);
  const document = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>{`${title} · Sluice`}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href={assets.icon} />
        <link rel="stylesheet" href={assets.style} />
        <script type="module" src={assets.script} />
      </head>
      <body class="console">
        <header class="bar">
          <span class="brand">Sluice</span>
          {person !== null && (
            <nav aria-label="Console">
              <a href="/" aria-current={screen.kind === 'places' ? 'page' : undefined}>
                Places
              </a>
              <a href="/profile" aria-current={screen.kind === 'profile' ? 'page' : undefined}>
                Profile
              </a>
              <form method="post" action="/sign-out">
                <button class="button button-small" type="submit">
                  Sign out
                </button>
              </form>
            </nav>
          )}
        </header>
        <main class={screen.kind === 'profile' ? 'sheet sheet-wide' : 'sheet'} data-screen={screen.kind}>
          <h1>{title}</h1>
          {notice !== null && (
            <p class="notice notice-error" role="alert">
              {notice}
            </p>
          )}
          <Content screen={screen} person={person} />
        </main>
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(document)}`;
}

function titleOf(screen: Screen): string {
  if (screen.kind === 'problem') return PROBLEMS[screen.problem].title;
  return screen.kind === 'invitation' && screen.role === null ? 'Welcome back' : TITLES[screen.kind];
}

function Content({ screen, person }: { screen: Screen; person: string | null }): JSX.Element {
  switch (screen.kind) {
    case 'sign-in':
      return (
        <form class="card" method="post" action="/sign-in" data-passkey="get">
          <p>Use the passkey of this device, of your phone, or of a security key.</p>
          <Passkey label="Sign in with a passkey" />
          <p class="hint">New here, or no passkey left? Whoever looks after this deployment can send you a link.</p>
        </form>
      );
    case 'invitation':
      if (screen.by !== 'passkey')
        return (
          <form class="card" method="post" action={screen.action}>
            <p>
              <strong>{screen.email}</strong> becomes <strong>{screen.role}</strong> of <strong>{screen.place ?? 'this deployment'}</strong>.
            </p>
            {screen.by === 'session' ? (
              <button class="button button-main" type="submit">
                Accept
              </button>
            ) : (
              <>
                <p>This address has a passkey already. Sign in with it, then open the link again.</p>
                <a class="button button-main" href="/sign-in">
                  Sign in
                </a>
              </>
            )}
          </form>
        );
      return (
        <form class="card" method="post" action={screen.action} data-passkey="create">
          {screen.role === null ? (
            <p>
              Make a new passkey for <strong>{screen.email}</strong>. Every passkey and every session that you had ends with it.
            </p>
          ) : (
            <p>
              <strong>{screen.email}</strong> becomes <strong>{screen.role}</strong> of <strong>{screen.place ?? 'this deployment'}</strong>.
            </p>
          )}
          <Passkey label={screen.role === null ? 'Make a passkey' : 'Accept and make a passkey'} />
          <p class="hint">There is no password. A passkey stays on your devices, and works on this site alone.</p>
        </form>
      );
    case 'places':
      return screen.places.length === 0 ? (
        <p class="card">Nobody has invited {person} anywhere, or you were removed. An owner of a gateway can invite you.</p>
      ) : (
        <ul class="places">
          {screen.places.map(({ name, role }) => (
            <li class="card">
              <h2>{name ?? 'This deployment'}</h2>
              <p class="hint">You are {role} here.</p>
            </li>
          ))}
        </ul>
      );
    case 'profile':
      return <Profile screen={screen} person={person ?? ''} />;
    case 'problem':
      return (
        <div class="card">
          <p>{PROBLEMS[screen.problem].text}</p>
          <p class="hint">Request {screen.requestId}</p>
          <a class="button" href="/">
            To the beginning
          </a>
        </div>
      );
  }
}

function Passkey({ label }: { label: string }): JSX.Element {
  return (
    <>
      <input type="hidden" name="credential" />
      <button class="button button-main" type="submit">
        {label}
      </button>
      <p class="notice notice-error" role="alert" hidden data-part="passkey-problem" />
      <noscript>
        <p class="notice notice-warning">Passkeys need scripts: allow them for this site.</p>
      </noscript>
    </>
  );
}
