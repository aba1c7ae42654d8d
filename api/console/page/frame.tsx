import type { ComponentChildren, JSX } from 'preact';
import { Icon } from '#api/page/icons.tsx';
import type { PageModel, Surroundings } from './model.ts';
import { SECTIONS } from './sections.ts';

/** What stands around every page: where one is, where one may go, and who one is. */
export function Frame({ page, children }: { page: PageModel; children: ComponentChildren }): JSX.Element {
  const { person, place, screen } = page;
  return (
    <>
      <a class="skip" href="#content">
        To the content
      </a>
      <header class="bar">
        <a class="brand" href="/">
          Sluice
        </a>
        {place?.permissions.includes('payment:read') && <Search place={place} sought={screen.kind === 'payments' ? screen.filter.q : undefined} />}
        {person !== null && (
          <nav class="bar-links" aria-label="You">
            <a href="/" aria-current={screen.kind === 'places' ? 'page' : undefined}>
              Places
            </a>
            <a href="/profile" aria-current={screen.kind === 'profile' ? 'page' : undefined} title={person}>
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
      <div class={place === null ? 'page' : 'page page-place'}>
        {place !== null && <Sections place={place} />}
        {children}
      </div>
    </>
  );
}

/** Opens what is known by exactly this. */
function Search({ place, sought }: { place: Surroundings; sought: string | undefined }): JSX.Element {
  return (
    <search class="search">
      <form method="get" action={`${place.href}/search`}>
        <input
          type="search"
          name="q"
          value={sought}
          maxLength={255}
          required
          aria-label="Search"
          placeholder="Search id, order, hash or address"
          aria-keyshortcuts="/"
        />
        <button class="button button-small" type="submit" aria-label="Search">
          <Icon name="search" />
        </button>
      </form>
    </search>
  );
}

/** Parts of a gateway that this role may look into. */
function Sections({ place }: { place: Surroundings }): JSX.Element {
  return (
    <nav class="side" aria-label={place.name}>
      <p class="side-name">{place.name}</p>
      <p class="hint side-role">{place.role}</p>
      <ul>
        {SECTIONS.filter(({ permission }) => place.permissions.includes(permission)).map(({ name, title }) => (
          <li>
            <a href={`${place.href}/${name}`} aria-current={name === place.section ? 'page' : undefined}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
