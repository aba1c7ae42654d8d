import { beforeEach, describe, expect, it } from 'vitest';
import { ChainUnavailable } from '#shared/chains/chain.ts';
import { asked, at, beginAnew, fakes, fault, moveTo, now, open, reader, settle, states } from './fake-endpoints.ts';

beforeEach(beginAnew);

describe('the head of several endpoints', () => {
  it('is not told by an endpoint that lags, and is told by it again when it has caught up', async () => {
    open('a', 'b');
    await reader.head();
    await settle();
    at(1).height = 110;
    moveTo(60_000);
    await reader.head();
    await settle();
    moveTo(61_000);
    expect((await reader.head()).latest.height).toBe(110);
    expect(states()).toEqual(['lagging', 'well']);
    at(0).height = 111;
    moveTo(120_000);
    await reader.head();
    await settle();
    expect((await reader.head()).latest.height).toBe(111);
    expect(states()).toEqual(['well', 'well']);
  });

  it('is not told by a lagging endpoint either while whoever was ahead is away, but for so long only', async () => {
    open('a', 'b');
    at(1).height = 110;
    await reader.head();
    await settle();
    at(1).fault = fault('down');
    await expect(reader.head()).rejects.toThrow(/a lags: its head is block 100/);
    moveTo(60_001);
    expect((await reader.head()).latest.height).toBe(100);
  });

  it('does not go back because another endpoint is asked', async () => {
    open('a', 'b');
    at(1).height = 99;
    expect((await reader.head()).latest.height).toBe(100);
    at(0).fault = fault('down');
    await expect(reader.head()).rejects.toThrow(/b is behind: its head is block 99, but block 100 was seen/);
    at(1).height = 100;
    expect((await reader.head()).latest.height).toBe(100);
  });

  it('goes back when the chain did: the endpoint that told it takes it back', async () => {
    open('a', 'b');
    await reader.head();
    at(0).height = 97;
    expect((await reader.head()).latest.height).toBe(97);
  });

  it('binds nobody for ever: an endpoint that is left alone may tell a lower one', async () => {
    open('a', 'b');
    at(1).height = 90;
    await reader.head();
    at(0).fault = fault('down');
    await expect(reader.head()).rejects.toBeInstanceOf(ChainUnavailable);
    moveTo(60_001);
    expect((await reader.head()).latest.height).toBe(90);
  });

  it('counts an endpoint on another branch as lagging', async () => {
    open('a', 'b');
    at(1).other.set(100, 'fork');
    await reader.head();
    await settle();
    expect(states()).toEqual(['well', 'lagging']);
  });

  /** Follows the head of whoever tells it up to block `to`, one every twelve seconds, where the first one is so many blocks ahead. */
  async function followTo(to: number, ahead = 0): Promise<void> {
    for (let height = at(1).height + 1; height <= to; height++) {
      for (const one of fakes) one.height = height;
      at(0).height += ahead;
      moveTo(now + 12_000);
      await reader.head();
      await settle();
    }
  }

  it('is not told by an endpoint that comes back on another branch, though it is ahead, while another one follows ours', async () => {
    open('a', 'b');
    await followTo(110);
    at(0).fault = fault('down');
    await followTo(120);
    at(0).fault = null;
    for (let height = 105; height <= 130; height++) at(0).other.set(height, `x${height}`);
    await followTo(125, 1);
    expect((await reader.head()).latest.hash).toBe('b125');
    expect(states()).toEqual(['lagging', 'well']);
    for (let height = 105; height <= 130; height++) at(0).other.delete(height);
    await followTo(130);
    expect(states()).toEqual(['well', 'well']);
  });

  it('is told by an endpoint on another branch once nobody followed ours for a minute', async () => {
    open('a', 'b');
    await followTo(110);
    at(0).fault = fault('down');
    for (let height = 105; height <= 111; height++) at(1).other.set(height, `x${height}`);
    at(1).height = 111;
    await expect(reader.head()).rejects.toThrow(/b is on another branch: block 107 is not the one that was followed/);
    moveTo(now + 60_001);
    expect((await reader.head()).latest.hash).toBe('x111');
  });

  it('is told by another endpoint at once where only the last blocks differ', async () => {
    open('a', 'b');
    await followTo(110);
    at(0).fault = fault('down');
    for (const height of [109, 110, 111]) at(1).other.set(height, `x${height}`);
    at(1).height = 111;
    expect((await reader.head()).latest.hash).toBe('x111');
  });

  it('is told by another endpoint right after both followed a reorganisation, however deep that was', async () => {
    open('a', 'b');
    await followTo(110);
    for (const one of fakes) for (let height = 101; height <= 112; height++) one.other.set(height, `x${height}`);
    await followTo(111);
    at(0).fault = fault('down');
    at(1).height = 112;
    expect((await reader.head()).latest.hash).toBe('x112');
  });

  it('asks those that are not in use now and then, and no more often', async () => {
    open('a', 'b');
    for (let ms = 0; ms < 30_000; ms += 1_000) {
      moveTo(ms);
      await reader.head();
      await settle();
    }
    const [first, second] = asked();
    expect(first).toHaveLength(30);
    expect(second).toHaveLength(2);
  });
});
