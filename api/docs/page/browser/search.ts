import { find, type Hit, readIndex } from '../finding.ts';

/** Most that are shown below the box. */
const MOST = 8;

/** Loads the index; what it answers finds at once. Its own program, because most readers of a page do not search. */
export async function openSearch(address: string): Promise<(question: string) => Hit[]> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the index answers ${answer.status}`);
  const index = readIndex(await answer.text());
  return (question) => find(index, question, MOST);
}
