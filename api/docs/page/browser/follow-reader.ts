/** Marks in the table of contents which section is being read, and folds the sheets of a narrow screen when one of their links was followed. */
export function followReader(): void {
  const links = new Map([...document.querySelectorAll<HTMLAnchorElement>('.headings a')].map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const sections = [...links.keys()].flatMap((id) => document.getElementById(id) ?? []);
  const mark = (): void => {
    const read = sections.findLast((section) => section.getBoundingClientRect().top < 120);
    for (const [id, link] of links)
      if (id === read?.id) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
  };
  if (sections.length > 0) document.addEventListener('scroll', mark, { passive: true });
  for (const sheet of document.querySelectorAll<HTMLElement>('[popover]'))
    sheet.addEventListener('click', ({ target }) => {
      if (target instanceof Element && target.closest('a') !== null && sheet.matches(':popover-open')) sheet.hidePopover();
    });
  document.querySelector('.pages a[aria-current]')?.scrollIntoView({ block: 'nearest' });
}
