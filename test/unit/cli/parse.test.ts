import { describe, expect, it } from 'vitest';
import { type Command, UsageError } from '#ops/cli/command.ts';
import { COMMANDS } from '#ops/cli/commands.ts';
import { readFields } from '#ops/cli/fields.ts';
import { facts, table } from '#ops/cli/format.ts';
import { overview, parseCommandLine } from '#ops/cli/parse.ts';
import { describePayment } from '#ops/cli/payment.ts';

function runs(words: string): { name: string; args: string[]; options: object; json: boolean } {
  const parsed = parseCommandLine(
    words.split(' ').filter((word) => word !== ''),
    COMMANDS,
  );
  if ('help' in parsed) throw new Error('only help');
  return { name: parsed.command.name, args: parsed.args, options: { ...parsed.options }, json: parsed.json };
}

describe('the command line', () => {
  it('finds commands of one word and of two', () => {
    expect(runs('audit')).toEqual({ name: 'audit', args: [], options: {}, json: false });
    expect(runs('payment show 7d9f --json')).toEqual({ name: 'payment show', args: ['7d9f'], options: { json: true }, json: true });
    expect(runs('pay 7d9f --asset USDT --amount 10.5 --wait').options).toEqual({ asset: 'USDT', amount: '10.5', wait: true });
  });

  it.each([
    'frobnicate',
    'gateway',
    'gateway destroy 1',
    'payment show',
    'payment show 1 2',
    'audit now',
    'pay 1 --colour red',
    'pay 1 --asset',
    'doctor --fix=1',
  ])('refuses "%s" as a wrong use', (words) => {
    expect(() => runs(words)).toThrow(UsageError);
  });

  it('names the verbs a noun has when the verb is wrong', () => {
    expect(() => runs('gateway destroy')).toThrow(/gateway create, gateway list, gateway show, gateway set/);
  });

  it('gives help for everything and for one command, with the exit codes', () => {
    for (const words of [[], ['--help'], ['-h'], ['help']]) expect(parseCommandLine(words, COMMANDS)).toMatchObject({ help: overview(COMMANDS) });
    expect(overview(COMMANDS)).toMatch(/exit codes[\s\S]*0 {2}it worked[\s\S]*3 {2}nothing answers/);
    const one = parseCommandLine(['pay', '--help'], COMMANDS);
    expect('help' in one && one.help).toContain('--amount <value>');
  });

  it('has no two commands that one line could mean', () => {
    const names = COMMANDS.map((command: Command) => command.name);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(runs(`${name} ${'x '.repeat(COMMANDS.find((one) => one.name === name)?.arity[0] ?? 0)}`.trim()).name).toBe(name);
  });
});

describe('field=value arguments', () => {
  it('become the body of the operator API', () => {
    expect(
      readFields([
        'status=SUSPENDED',
        'settings.commissionBps=50',
        'settings.overAcceptableDiff=1',
        'cashout.enabled=true',
        'cashout.allowlist=10.0.0.0/8, ::1',
        'apiAllowlist=',
        'contactEmail=null',
        'branding.displayName=a=b',
      ]),
    ).toEqual({
      status: 'SUSPENDED',
      settings: { commissionBps: 50, overAcceptableDiff: '1' },
      cashout: { enabled: true, allowlist: ['10.0.0.0/8', '::1'] },
      apiAllowlist: [],
      contactEmail: null,
      branding: { displayName: 'a=b' },
    });
  });

  it.each(['status', '=x', 'a..b=1', '.a=1', 'settings.commissionBps=much', 'settings.commissionBps=1.5', 'a-b=1', '__proto__.x=1'])('refuse "%s"', (arg) => {
    expect(() => readFields([arg])).toThrow(UsageError);
  });

  it('refuse a field that is both a value and a group', () => {
    expect(() => readFields(['cashout=null', 'cashout.enabled=true'])).toThrow(UsageError);
  });
});

describe('what is printed', () => {
  it('aligns columns and never lets a text steer the terminal', () => {
    expect(
      table(
        ['id', 'name'],
        [
          ['1', 'a\u001b[31mred\nx'],
          ['22', null],
        ],
      ),
    ).toBe('id  name\n1   a [31mred x\n22  -');
    expect(table(['id'], [])).toBe('none');
    expect(facts({ id: '1', nothing: null, longer: 2 })).toBe('id      1\nlonger  2');
  });

  it('tells a payment as its explanation does, and nothing in it steers the terminal', () => {
    const text = describePayment({
      payment: { id: '7d9f', status: 'MISMATCH', amount: '100', currencyCode: 'USD', verifiedAt: null },
      offers: [],
      credits: [],
      aml: { events: [], refunds: [] },
      summary: 'PENDING → MISMATCH: -1.01 USD is more than the tolerated 1.00 USD.',
      steps: [{ step: 'decision', at: '2026-11-21T10:15:02.000Z', text: 'PENDING → MISMATCH\u001b[31m' }],
    });
    expect(text).toContain('why       PENDING → MISMATCH: -1.01 USD is more than the tolerated 1.00 USD.');
    expect(text).toContain('2026-11-21T10:15:02.000Z  decision  PENDING → MISMATCH [31m');
  });

  it.each([
    [false, 'being assigned'],
    [true, 'simulated'],
  ])('says of a selected offer without an address, sandbox %s: %s', (isSandbox, told) => {
    const figures = { assetSymbol: 'ETH', network: 'ethereum', priceUsd: '1', amount: '1', txFee: '0', commissionFee: '0', totalValue: '1' };
    const offers = [{ ...figures, selectedAt: '2026-11-21T10:15:02.000Z', address: null }];
    expect(describePayment({ payment: { id: '7d9f', isSandbox }, offers, credits: [], aml: { events: [], refunds: [] }, summary: '', steps: [] })).toContain(
      told,
    );
  });
});
