import { openHighlight } from './highlight.ts';
import { type DocsAssets, frame, layOut } from './layout.ts';
import { llmsFull, llmsIndex } from './llms.ts';
import { addressOfPage, pagesNavigation } from './navigation.ts';
import { find, type FindingIndex } from './page/finding.ts';
import { type DocsFolders, type Page, readPages } from './pages.ts';
import type { Contract, Operation } from './reference/contract.ts';
import {
  addressOfOperation,
  drawOperation,
  drawOverview,
  findableOperations,
  openReference,
  type Reference,
  referenceNavigation,
} from './reference/draw-reference.ts';
import { renderPage } from './render.ts';
import { resultsPage, searchIndex } from './search.ts';

/** What drawing starts from. */
export interface DrawnFrom {
  folders: DocsFolders;
  assets: DocsAssets;
  /** The contracts, parsed. */
  merchant: Contract;
  operator: Contract;
  checkout: Contract;
  /** Where the checkout is, which listens at an address of its own. */
  checkoutUrl: string;
}

/** One answer: what it is, and its text. */
export interface Drawn {
  type: 'text/html' | 'text/markdown' | 'text/plain' | 'application/json';
  text: string;
}

/** The documentation as texts by their addresses. */
export interface Draughtsman {
  /** Where anything is. */
  addresses: string[];
  /** Null where nothing is. */
  draw(path: string): Promise<Drawn | null>;
  /** The page that shows what was found. */
  results(question: string): Drawn;
}

/** Reads every page; each is drawn when it is asked for. @throws Error when there is no index.md */
export function openDraughtsman({ folders, assets, merchant, operator, checkout, checkoutUrl }: DrawnFrom): Draughtsman {
  const pages = readPages(folders);
  const references = [
    openReference({ address: '/docs/api', title: 'API reference', root: '/api/v1', contract: merchant, limited: true, tryProgram: assets.try }),
    openReference({ address: '/docs/operator-api', title: 'Operator API', root: '/operator/v1', contract: operator, limited: false, tryProgram: null }),
    openReference({ address: '/docs/checkout-api', title: 'Checkout channel', root: checkoutUrl, contract: checkout, limited: false, tryProgram: null }),
  ];
  let made: FindingIndex | undefined;
  const index = (): FindingIndex => {
    made ??= searchIndex(pages, references.flatMap(findableOperations));
    return made;
  };
  const html = (page: Page) => async (): Promise<Drawn> => ({ type: 'text/html', text: layOut(assets, pages, page, renderPage(page, await openHighlight())) });
  const overview = (reference: Reference) => async (): Promise<Drawn> => {
    const drawn = drawOverview(reference, await openHighlight());
    const { title, contract } = reference;
    return {
      type: 'text/html',
      text: frame(assets, { title, summary: contract.info.summary ?? title, navigation: referenceNavigation(reference, undefined), ...drawn, part: 'api' }),
    };
  };
  const operationPage = (reference: Reference, operation: Operation) => async (): Promise<Drawn> => ({
    type: 'text/html',
    text: frame(assets, {
      title: operation.summary,
      summary: operation.description.split('\n\n')[0] ?? '',
      navigation: referenceNavigation(reference, operation),
      html: drawOperation(reference, operation, await openHighlight()),
      part: 'api',
      shape: 'layout-reference',
    }),
  });
  const texts = new Map<string, () => Drawn | Promise<Drawn>>([
    ['/llms.txt', () => ({ type: 'text/plain', text: llmsIndex(pages) })],
    ['/llms-full.txt', () => ({ type: 'text/plain', text: llmsFull(pages) })],
    ['/docs', html(pages.index)],
    ['/docs/search.json', () => ({ type: 'application/json', text: JSON.stringify(index()) })],
    ...[...pages.bySlug.values()].flatMap((page): [string, () => Drawn | Promise<Drawn>][] => [
      [addressOfPage(page), html(page)],
      [`${addressOfPage(page)}.md`, () => ({ type: 'text/markdown', text: page.markdown })],
    ]),
    ...references.flatMap((reference): [string, () => Promise<Drawn>][] => [
      [reference.address, overview(reference)],
      ...reference.operations.map((one): [string, () => Promise<Drawn>] => [addressOfOperation(reference, one), operationPage(reference, one)]),
    ]),
  ]);
  return {
    addresses: [...texts.keys()],
    draw: async (path) => (await texts.get(path)?.()) ?? null,
    results(question) {
      const text = frame(assets, {
        title: 'Search',
        summary: 'What the documentation has about something.',
        navigation: pagesNavigation(pages, undefined),
        html: resultsPage(find(index(), question, MOST_RESULTS), question),
        part: 'none',
        sought: question,
      });
      return { type: 'text/html', text };
    },
  };
}

/** Most that a page of results shows. */
const MOST_RESULTS = 30;
