import type { ComponentChildren, JSX } from 'preact';
import { Icon } from '#api/page/icons.tsx';
import type { PageModel, Surroundings } from './model.ts';
import { OPERATOR_SECTIONS, READ_EVERYTHING } from './operator-sections.ts';
import { Role } from './parts.tsx';
import { SECTIONS, sectionTitle } from './sections.ts';
import { useTexts } from './texts.ts';

/** What stands around every page: where one is, where one may go, and who one is. */
export function Frame({ page, children }: { page: PageModel; children: ComponentChildren }): JSX.Element {
  const { person, place, screen } = page;
  const t = useTexts();
  return (
    <>
      <a class="skip" href="#content">
        {t('frame.skip')}
      </a>
      <header class="bar">
        <a class="brand" href="/">
          Sluice
        </a>
        {place?.permissions.includes(place.name === null ? READ_EVERYTHING : 'payment:read') && (
          <Search place={place} sought={screen.kind === 'payments' ? screen.filter.q : screen.kind === 'ops-search' ? screen.q : undefined} />
        )}
        {person !== null && (
          <nav class="bar-links" aria-label={t('frame.you')}>
            <a href="/" aria-current={screen.kind === 'places' ? 'page' : undefined}>
              {t('frame.places')}
            </a>
            <a href="/profile" aria-current={screen.kind === 'profile' ? 'page' : undefined} title={person}>
              {t('frame.profile')}
            </a>
            <form method="post" action="/sign-out">
              <button class="button button-small" type="submit">
                {t('frame.sign-out')}
              </button>
            </form>
          </nav>
        )}
      </header>
      <div class={place === null ? 'page' : 'page page-place'}>
        {place !== null && <Sections place={place} />}
        {children}
      </div>
      <Languages page={page} />
    </>
  );
}

/** Opens what is known by exactly this. */
function Search({ place, sought }: { place: Surroundings; sought: string | undefined }): JSX.Element {
  const t = useTexts();
  return (
    <search class="search">
      <form method="get" action={`${place.href}/search`}>
        <input
          type="search"
          name="q"
          value={sought}
          maxLength={255}
          required
          aria-label={t('frame.search')}
          placeholder={t(place.name === null ? 'ops.search-for' : 'frame.search-for')}
          aria-keyshortcuts="/ Control+K"
        />
        <button class="button button-small" type="submit" aria-label={t('frame.search')}>
          <Icon name="search" />
        </button>
      </form>
    </search>
  );
}

/** Parts of a gateway, or of the deployment, that this role may look into. */
function Sections({ place }: { place: Surroundings }): JSX.Element {
  const t = useTexts();
  const name = place.name ?? t('ops.place');
  const parts =
    place.name === null
      ? OPERATOR_SECTIONS.filter(() => place.permissions.includes(READ_EVERYTHING)).map((part) => ({ part, title: t(`ops-section.${part}`) }))
      : SECTIONS.filter(({ permission }) => place.permissions.includes(permission)).map(({ name: part }) => ({ part, title: sectionTitle(t, part) }));
  const here = parts.find(({ part }) => part === place.section);
  return (
    <nav class="side" aria-label={name}>
      <div class="side-where">
        <p class="side-name">{name}</p>
        <p class="hint side-role">
          <Role name={place.role} />
        </p>
      </div>
      {/* On a phone the parts are folded: a box that is checked works without the program, and needs no second list for wide pages. */}
      <input class="side-open" id="side-open" type="checkbox" autocomplete="off" />
      <label class="side-here" for="side-open">
        <span class={here === undefined ? undefined : 'hidden-visually'}>{t('frame.parts')} </span>
        {here?.title}
      </label>
      <ul>
        {parts.map(({ part, title }) => (
          <li>
            <a href={`${place.href}/${part}`} aria-current={part === place.section ? 'page' : undefined}>
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** A form and not links, so that it works on a page that answered a form; what was chosen is kept in a cookie. */
function Languages({ page: { language, languages } }: { page: PageModel }): JSX.Element | null {
  const t = useTexts();
  if (languages.length < 2) return null;
  return (
    <footer class="foot">
      <form method="post" action="/language">
        <select name="lang" aria-label={t('frame.language')}>
          {languages.map(({ tag, name }) => (
            <option value={tag} lang={tag} selected={tag === language.tag}>
              {name}
            </option>
          ))}
        </select>
        <button class="button button-small" type="submit">
          {t('frame.change-language')}
        </button>
      </form>
    </footer>
  );
}
