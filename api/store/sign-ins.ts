import { POLICY } from '#shared/core/policy.ts';
import type { Reads } from '#shared/platform/postgres.ts';

/**
 * Forgets what ended of signing in more than `days` ago: sessions, mailed links, invitations, notices, codes on paper that were used, and authenticators with what is left
 * of theirs; and at once what a provider was asked for and answered too late or never, and authenticators that nobody started in time. Of each kind at most `limit`; answers how many. What people did stays in the record of acts.
 */
export async function forgetSignIns(sql: Reads, { days, limit }: { days: number; limit: number }): Promise<number> {
  const kept = sql`sluice_now() - make_interval(days => ${days})`;
  const gone = await Promise.all([
    // Whatever becomes of a session or an invitation, it ends a stated time after it was made.
    sql`
      delete from sessions where id in (
        select id from sessions where created_at < ${kept} - make_interval(secs => ${POLICY.sessionSeconds}) order by created_at limit ${limit}) returning 1`,
    sql`
      delete from invitations where id in (
        select id from invitations where created_at < ${kept} - make_interval(secs => ${POLICY.invitationSeconds}) order by created_at limit ${limit}) returning 1`,
    sql`delete from sign_in_links where token_hash in (select token_hash from sign_in_links where expires_at < ${kept} order by expires_at limit ${limit}) returning 1`,
    sql`
      delete from recovery_codes where (authenticator_id, code_hash) in (
        select authenticator_id, code_hash from recovery_codes where used_at < ${kept} order by used_at limit ${limit}) returning 1`,
    sql`
      delete from provider_sign_ins where state_hash in (
        select state_hash from provider_sign_ins where expires_at < sluice_now() order by expires_at limit ${limit}) returning 1`,
    sql`delete from person_notices where id in (select id from person_notices where at < ${kept} order by at limit ${limit}) returning 1`,
    sql`
      with old as (select id from authenticators where ended_at < ${kept} order by ended_at limit ${limit}),
        codes as (delete from recovery_codes where authenticator_id in (select id from old))
      delete from authenticators where id in (select id from old) returning 1`,
    sql`
      delete from authenticators where id in (
        select id from authenticators where ended_at is null and confirmed_at is null
          and created_at < sluice_now() - 2 * make_interval(secs => ${POLICY.authenticatorStartSeconds})
        order by created_at limit ${limit}) returning 1`,
  ]);
  return gone.reduce((sum, rows) => sum + rows.length, 0);
}
