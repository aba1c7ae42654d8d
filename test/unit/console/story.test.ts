import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import type { PaymentScreen } from '#api/console/page/model.ts';
import { duration } from '#api/console/page/payment.tsx';
import { type StoryEntry, storyOf } from '#api/console/page/story.ts';
import { Texts } from '#api/console/page/texts.ts';
import { Timeline } from '#api/console/page/timeline.tsx';
import { inEnglish } from '#test/fixtures/console-texts.ts';

type Record = PaymentScreen['record'];
type Step = PaymentScreen['explanation']['steps'][number];

const AT = (second: number) => `2026-11-21T10:00:${String(second).padStart(2, '0')}.000Z`;
const HASH = `0x${'ab'.repeat(32)}`;

const step = (second: number, name: Step['step'], text: string, figures: Step['figures'] = {}): Step => ({
  step: name,
  rule: `${name}_rule`,
  at: AT(second),
  text,
  figures,
});

/** A payment that was paid after it had expired, all within a second, and whose webhook failed once. */
const record = {
  outcome: { status: 'SUCCESS' },
  offers: [{ assetSymbol: 'USDT', assetNetwork: 'tron', totalValue: '49.9' }],
  credits: [{ asset: 'USDT', gross: '49.9', networkFee: '1', commission: '0.5', net: '48.4', creditedAt: AT(5), maturesAt: AT(59), maturedAt: null }],
  webhooks: [
    {
      id: 'w',
      status: 'SUCCESS',
      url: 'https://shop.example/hook',
      body: '{"status":"SUCCESS"}',
      nextAttemptAt: AT(40),
      attempts: [
        {
          number: 1,
          startedAt: AT(6),
          timestamp: 1_795_255_206,
          httpStatus: 502,
          durationMs: 310,
          manual: false,
          answer: { body: 'bad gateway', contentType: null, retryAfter: null },
        },
      ],
    },
  ],
  timeline: [
    { at: AT(0), what: 'created' },
    { at: AT(1), what: 'selected', asset: 'USDT', network: 'tron' },
    { at: AT(3), what: 'seen', asset: 'USDT', network: 'tron', txHash: HASH, amount: '49.9', blockHeight: 61_204_118 },
    { at: AT(5), what: 'resolved', from: 'PENDING', to: 'EXPIRED' },
    { at: AT(5), what: 'resolved', from: 'EXPIRED', to: 'SUCCESS' },
    { at: AT(5), what: 'credited', asset: 'USDT', amount: '48.4' },
    { at: AT(6), what: 'webhook', webhookId: 'w', result: '5xx' },
  ],
} as unknown as Record;

const steps: Step[] = [
  step(0, 'invoice', 'The invoice is 49.90 USD.'),
  step(1, 'select', 'USDT on tron was selected.'),
  step(3, 'deposit', '49.9 USDT arrived.', { txHash: HASH }),
  step(3, 'deposit', '7 USDT arrived elsewhere.', { txHash: '0xother' }),
  step(5, 'expiry', 'PENDING → EXPIRED: the deadline passed.', { to: 'EXPIRED' }),
  step(5, 'price', 'The market price applies.'),
  step(5, 'value', '49.9 USDT × 1 USD = 49.90 USD received.'),
  step(5, 'decision', 'EXPIRED → SUCCESS: what arrived is enough.', { to: 'SUCCESS' }),
  step(5, 'record', 'receivedAmountUsd: 49.90 USD.'),
  step(5, 'fees', 'Of 49.9 USDT: 1 network fee.'),
  step(6, 'webhook', 'Attempt 1 of the webhook.'),
  step(20, 'next', 'SUCCESS is final.'),
];
const story = storyOf(inEnglish, { record, explanation: { steps } }, { tron: 'TRON' });
const entry = (title: string) => story.find((one) => one.title.includes(title));
const texts = (title: string) => entry(title)?.steps.map(({ text }) => text);

describe('the story of a payment', () => {
  it('is told in the order in which it happened, what is to come last', () => {
    expect(story.map(({ title }) => title)).toEqual([
      'Created',
      'The payer chose USDT on TRON',
      '49.9 USDT seen in block 61,204,118 on TRON',
      '7 USDT arrived elsewhere.',
      'Expired',
      'Judged: Success',
      'Credited 48.4 USDT',
      'Webhook “Success” not delivered',
      'Webhook “Success” is tried again',
      '48.4 USDT can be cashed out',
      'SUCCESS is final.',
    ]);
    expect(story.map(({ state }) => state)).toEqual(['done', 'done', 'done', 'done', 'done', 'done', 'done', 'wrong', 'next', 'next', 'next']);
  });

  it('has every step of the explanation exactly once, but for what its own entries tell', () => {
    const told = story.flatMap((one) => [...one.steps.map(({ text }) => text), ...(one.steps.length === 0 ? [one.title] : [])]);
    for (const { text, step: name } of steps)
      expect(
        told.filter((one) => one === text),
        text,
      ).toHaveLength(name === 'webhook' ? 0 : 1);
  });

  it('gives of two verdicts within one moment each its own sum', () => {
    expect(texts('Expired')).toEqual(['PENDING → EXPIRED: the deadline passed.']);
    expect(entry('Expired')).toMatchObject({ detail: 'PENDING → EXPIRED: the deadline passed.', why: null });
    expect(texts('Judged')).toEqual([steps[5], steps[6], steps[7], steps[8]].map((one) => one?.text));
    expect(entry('Judged')).toMatchObject({ detail: 'EXPIRED → SUCCESS: what arrived is enough.', why: '49.9 USDT × 1 USD = 49.90 USD received.' });
  });

  it('says how a credit follows from what arrived, and what a receiver answered', () => {
    expect(entry('Credited')?.detail).toBe('49.9 − 1 network fee − 0.5 commission = 48.4 USDT');
    expect(entry('not delivered')?.detail).toBe('attempt 1: 502 after 310 ms');
    expect(entry('not delivered')?.answer?.body).toBe('bad gateway');
  });

  it('stays short, with its beginning and its end, however many coins somebody sends', () => {
    const dust = Array.from({ length: 5_000 }, (_, n) => ({ at: AT(30), what: 'seen', asset: 'USDT', network: 'tron', txHash: `0x${n}`, amount: '0.01' }));
    const flooded = { ...record, timeline: [...record.timeline, ...dust, { at: AT(50), what: 'verified' }] } as unknown as Record;
    const arrived = dust.map(({ txHash }) => step(30, 'deposit', `0.01 USDT arrived, ${txHash}.`, { txHash }));
    const told = storyOf(inEnglish, {
      record: flooded,
      explanation: { steps: [...steps.slice(0, -1), ...arrived, step(50, 'next', 'It rests.')] },
    });
    expect(told.length).toBeLessThan(450);
    expect(told[0]?.title).toBe('Created');
    expect(told.map(({ title }) => title)).toEqual(
      expect.arrayContaining(['Judged: Success', 'Verified by your server', '4808 more like these are left out here; the API tells all of them']),
    );
    expect(told.at(-1)?.title).toBe('It rests.');
  });

  it('keeps a fee of the sandbox, which credits nothing, behind the verdict', () => {
    const simulated = { ...record, credits: [], timeline: record.timeline.filter(({ what }) => what !== 'credited') };
    const told = storyOf(inEnglish, { record: simulated, explanation: { steps } });
    expect(told.find(({ title }) => title === 'Judged: Success')?.steps.at(-1)?.step).toBe('fees');
  });
});

const drawn = (entry: StoryEntry) => renderToString(h(Texts.Provider, { value: inEnglish }, h(Timeline, { entries: [entry], explorerUrl: () => undefined })));

describe('a timeline', () => {
  it('says of a detail of the service that it is English, and of nothing else', () => {
    const judged = { ...(entry('Judged') as StoryEntry), steps: [] };
    expect(drawn(judged)).not.toContain('lang=');
    expect(drawn({ ...judged, english: true }).match(/<span lang="en">[^<]+/g)).toEqual(['<span lang="en">EXPIRED → SUCCESS: what arrived is enough.']);
  });

  it('writes moments for people wherever a sentence has one', () => {
    const said = `until ${AT(7)}`;
    const entry = {
      at: AT(0),
      title: said,
      detail: said,
      why: said,
      txHash: null,
      sent: null,
      answer: null,
      steps: [step(0, 'invoice', said)],
      state: 'done',
      english: false,
    } as const;
    const html = drawn({ ...entry, steps: [...entry.steps] });
    expect(html.replaceAll(/<[^>]+>/g, '')).not.toMatch(/\dT\d/);
    expect(html.match(/2026-11-21 10:00 UTC/g)).toHaveLength(4);
  });

  it('tells what a webhook was sent with: its headers and its body as text, and of signatures that they are not kept', () => {
    const html = drawn(entry('Webhook “Success” not') as StoryEntry);
    const said = /<pre class="answer">(.*?)<\/pre>/s.exec(html)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? '';
    expect(said).toContain('POST https://shop.example/hook');
    expect(said).toContain('webhook-timestamp: 1795255206');
    expect(said).toMatch(/webhook-signature: not kept\n(.|\n)*x-webhook-signature: not kept/);
    expect(said).toContain('status');
    expect(drawn({ ...(entry('Webhook “Success” not') as StoryEntry), sent: { url: '<b>', headers: [], body: '<script>' } })).not.toMatch(/<script|<b>/);
  });

  it('folds what a receiver answered, as text and nothing else', () => {
    const answer = { body: '</pre><script>alert(1)</script>', contentType: 'text/html"><b>', retryAfter: '120' };
    const entry: StoryEntry = {
      at: AT(0),
      title: 'Webhook',
      detail: null,
      why: null,
      txHash: null,
      sent: null,
      answer,
      steps: [],
      state: 'wrong',
      english: false,
    };
    const html = drawn(entry);
    expect(html).toContain('<details><summary>Show what your server answered</summary>');
    expect(html).toContain('<pre class="answer">&lt;/pre>&lt;script>alert(1)&lt;/script></pre>');
    expect(html).not.toMatch(/<script|<b>/);
  });
});

describe('a duration', () => {
  it.each([
    [0, '0 s'],
    [400, '0 s'],
    [59_499, '59 s'],
    [134_000, '2 min 14 s'],
    [3_600_000, '1 h'],
    [90_061_000, '1 d 1 h'],
    [-5, '0 s'],
  ])('of %i ms reads %s', (milliseconds, text) => {
    expect(duration(inEnglish, milliseconds)).toBe(text);
  });
});
