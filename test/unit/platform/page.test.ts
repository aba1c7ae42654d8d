import { describe, expect, it } from 'vitest';
import { follow, readFollowing } from '#shared/platform/page.ts';

const rows = ['c', 'b', 'a'];
const same = (row: string): string => row;

describe('a list that is not counted', () => {
  it('reads back the cursor it gave, whatever its rows are called', () => {
    for (const id of ['0123456789abcdef', '42', 'a:b/c', '7d9f2c1e-5b0a-4c3e-9a77-0e2b6f1d8c44']) {
      const { nextCursor } = follow([id, 'next'], 1, same).pagination;
      expect(readFollowing({ after: nextCursor ?? '' })).toEqual({ limit: 20, after: id });
    }
  });

  it('says that nothing follows when it read no more than was asked for', () => {
    expect(follow(rows, 3, same)).toEqual({ shown: rows, pagination: { limit: 3, hasMore: false, nextCursor: null } });
    expect(follow(rows, 2, same)).toMatchObject({ shown: ['c', 'b'], pagination: { hasMore: true, nextCursor: expect.any(String) } });
    expect(follow([], 2, same).pagination).toEqual({ limit: 2, hasMore: false, nextCursor: null });
  });

  it('takes a limit above 100 as 100, and refuses one below 1', () => {
    expect(readFollowing({ limit: 1_000 })).toEqual({ limit: 100, after: null });
    expect(() => readFollowing({ limit: 0 })).toThrow(/^limit: /);
  });

  it.each(['', 'QQ==', 'Q', 'AA', '/+', 'w6k', Buffer.from('x'.repeat(201)).toString('base64url')])('refuses the cursor %j, which it never gave', (after) => {
    expect(() => readFollowing({ after })).toThrow(/^after: /);
  });
});
