/** Does for a part of a page what its program does for the whole of it, also for one that is drawn anew: moments in the reader's zone, days said once, ways to copy. */
export function enhance(root: ParentNode): void {
  tellMoments(root);
  sayDaysOnce(root);
  for (const button of root.querySelectorAll<HTMLElement>('[data-copy]'))
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(button.dataset.copy ?? '').then(() => {
        for (const other of document.querySelectorAll('.copied')) other.classList.remove('copied');
        button.classList.add('copied');
      });
    });
}

/** Moments come in UTC; whoever reads them gets their own zone, and UTC when pointing at one. */
function tellMoments(root: ParentNode): void {
  const language = document.documentElement.lang;
  const thisYear = new Date().getFullYear();
  for (const moment of root.querySelectorAll<HTMLTimeElement>('time[data-moment]')) {
    const at = new Date(moment.dateTime);
    const day = { day: 'numeric', month: 'short', ...(at.getFullYear() !== thisYear && { year: 'numeric' as const }) } as const;
    const clock = { hour: '2-digit', minute: '2-digit' } as const;
    const shown = { minute: { ...day, ...clock }, day, time: { ...clock, second: '2-digit' } as const }[moment.dataset.moment ?? ''];
    moment.title = `${moment.dateTime.slice(0, 19).replace('T', ' ')} UTC`;
    moment.textContent = at.toLocaleString(language === 'en' ? 'en-GB' : language, shown);
  }
}

/** Days begin elsewhere in another zone. */
function sayDaysOnce(root: ParentNode): void {
  let said = '';
  for (const day of root.querySelectorAll<HTMLElement>('.event-day')) {
    day.hidden = day.textContent === said;
    said = day.textContent ?? '';
  }
}
