import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Mail } from '#api/deps.ts';
import { makeNextPart } from '#api/exports/make-exports.ts';
import { makeMonthlyExports } from '#api/exports/monthly-exports.ts';
import { openPeopleDesk, type PeopleDesk } from '#api/people/desk.ts';
import { notificationMail, notifyPeople } from '#api/people/notifications.ts';
import { isAnybodyToTell, NOTIFICATION_KINDS, type NotificationKind, noteWebhooks } from '#api/store/notifications.ts';
import { POLICY } from '#shared/core/policy.ts';
import { GATEWAYS } from '#test/contract/examples.ts';
import { aService, type Service, type Shop } from '#test/contract/service.ts';
import { aMember } from '#test/harness/console-stage.ts';

const ORIGIN = 'http://localhost:3002';
const ADDRESS = '198.51.100.7';
const TO = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';

interface Member {
  id: string;
  email: string;
  cookie: string;
}

let service: Service;
let desk: PeopleDesk;
let shop: Shop;
let mails: Mail[];
let failing = false;

beforeAll(async () => {
  service = await aService((deps) => ({ ...deps, config: { ...deps.config, SLUICE_CONSOLE_URL: ORIGIN } }));
  desk = openPeopleDesk(service.deps);
});
afterAll(() => service?.stop());
beforeEach(async () => {
  shop = await service.aShop({ cashout: { ...(GATEWAYS.approveSettlement?.cashout as object), approvalCapUsd: '10' } });
  await shop.fund('USDT', '500');
  mails = [];
  failing = false;
  await look();
  mails = [];
});

const sql = () => service.world.database.sql;
async function member(role: string): Promise<Member> {
  const email = `${role}-${randomUUID()}@example.com`;
  const cookie = await aMember(service.world.database, { email, gatewayId: shop.id, role });
  const [{ id }] = (await sql()`select id from people where email = ${email}`) as unknown as [{ id: string }];
  return { id, email, cookie };
}
const choose = ({ cookie }: Member, ...kinds: NotificationKind[]) =>
  desk.chooseNotifications({ cookie, address: ADDRESS, gateway: shop.id, kinds, language: 'en' });
const send = async (mail: Mail): Promise<void> => {
  if (failing) throw new Error('the mail server is away');
  mails.push(mail);
};
const look = () => notifyPeople({ ...service.worker, mail: { send } });
const mailsTo = ({ email }: Member) => mails.filter(({ to }) => to === email);
async function cashout(amount: string): Promise<string> {
  const { data } = await shop.signed('POST', '/merchant/settlements', {
    body: { assetId: service.world.assets.USDT?.id, amount, address: TO, metadata: { requester: '<b>urgent</b>' } },
  });
  return String(data.id);
}

describe('mail that people choose', () => {
  it('tells once, with a link, whoever chose it and nobody else', async () => {
    const [anna, ben] = [await member('approver'), await member('approver')];
    await choose(anna, 'approval');
    const id = await cashout('50');
    await look();
    await look();
    expect(mailsTo(anna)).toMatchObject([{ subject: 'A cashout waits for approval', text: expect.stringContaining(`${ORIGIN}/g/${shop.id}/cashouts/${id}`) }]);
    expect(mailsTo(anna)[0]?.text).not.toContain('urgent');
    expect(mailsTo(ben)).toEqual([]);
  });

  it('tells nothing of what happened before it was chosen', async () => {
    const anna = await member('approver');
    await cashout('50');
    await choose(anna, 'approval');
    await look();
    expect(mailsTo(anna)).toEqual([]);
  });

  it('goes on behind numbers that no event of a history has, however many', async () => {
    const anna = await member('approver');
    await choose(anna, 'approval');
    await look();
    // Whatever is rolled back leaves such a gap, and so does a sequence that somebody moves on.
    await sql()`select setval(pg_get_serial_sequence('settlement_events', 'id'), nextval(pg_get_serial_sequence('settlement_events', 'id')) + 50_000)`;
    await cashout('50');
    for (let looks = 0; looks < 3; looks++) await look();
    expect(mailsTo(anna)).toHaveLength(1);
  });

  it('puts what waits into one mail, and sends no more than a few an hour', async () => {
    const anna = await member('approver');
    await choose(anna, 'approval');
    for (let round = 0; round < POLICY.notificationsPerHour; round += 1) {
      await cashout('11');
      await look();
    }
    expect(mailsTo(anna)).toHaveLength(POLICY.notificationsPerHour);
    await cashout('12');
    await cashout('13');
    await look();
    expect(mailsTo(anna)).toHaveLength(POLICY.notificationsPerHour);
    await service.world.advance(3_601);
    await look();
    expect(mailsTo(anna).at(-1)).toMatchObject({ subject: '2 things need a look', text: expect.stringContaining('Cashouts that wait for approval: 2') });
  });

  it('is sent again under its own name when the mail server was away', async () => {
    const anna = await member('approver');
    await choose(anna, 'approval');
    await cashout('50');
    failing = true;
    await look();
    const [{ mailId }] = (await sql()`select mail_id from notifications where person_id = ${anna.id}`) as unknown as [{ mailId: string }];
    failing = false;
    await look();
    expect(mailsTo(anna).map(({ id }) => id)).toEqual([`notify-${mailId}`]);
  });

  it('ends with the role: what it may not read is neither chosen nor told', async () => {
    const support = await member('support');
    await expect(choose(support, 'approval')).rejects.toMatchObject({ code: 'forbidden' });
    await choose(support, 'held', 'webhook');
    const anna = await member('approver');
    await choose(anna, 'approval');
    await cashout('50');
    await sql()`update memberships set role = 'support' where person_id = ${anna.id}`;
    await look();
    expect(mailsTo(anna)).toEqual([]);
    await sql()`update memberships set ended_at = sluice_now() where person_id = ${anna.id}`;
    await expect(choose(anna)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('tells of payments that screening holds, webhooks that were given up, and screening credits that run out', async () => {
    const owner = await member('owner');
    await choose(owner, ...NOTIFICATION_KINDS);
    const { paymentUid } = await shop.payment();
    await sql()`insert into aml_events (payment_id, event, from_status, to_status, actor) values (${paymentUid}, 'FLAG', 'NONE', 'HELD', 'screening'),
      (${paymentUid}, 'CLEAR', 'HELD', 'NONE', 'screening')`;
    await sql()`update gateways set settings = jsonb_set(settings, '{screening,enabled}', 'true') where id = ${shop.id}`;
    await look();
    const [mail] = mailsTo(owner);
    expect([mail?.subject, mail?.text.includes(`/payments/${paymentUid}`), mail?.text.includes('Screening credits run out')]).toEqual([
      '2 things need a look',
      true,
      true,
    ]);
    await look();
    expect(mailsTo(owner)).toHaveLength(1);
  });
});

describe('one gateway and its people', () => {
  /** Inserts people who chose to be told of webhooks, past every page; they were there before everybody else. */
  const people = (count: number, gatewayId = shop.id): Promise<unknown> => sql()`
    with made as (
      insert into people (id, email) select lpad(to_hex(n), 32, '0')::uuid, 'hostile-' || n || '@void.example' from generate_series(1, ${count}::int) n
      on conflict (id) do update set email = people.email returning id)
    insert into notification_choices (person_id, gateway_id, kind) select id, ${gatewayId}, 'webhook' from made`;

  it('do not stand before everybody else when their mails are never taken', async () => {
    const theirs = await service.aShop();
    await people(POLICY.notifiedAtOnce, theirs.id);
    await sql()`
      insert into notifications (id, person_id, gateway_id, kind, subject, at, mail_id, taken_at)
      select gen_random_uuid(), person_id, gateway_id, kind, 'x', sluice_now() - interval '1 day', gen_random_uuid(), sluice_now() - interval '1 day'
      from notification_choices where gateway_id = ${theirs.id}`;
    const anna = await member('approver');
    await choose(anna, 'approval');
    await cashout('50');
    await notifyPeople({
      ...service.worker,
      mail: { send: async (mail) => (mail.to.endsWith('@void.example') ? Promise.reject(new Error('550')) : send(mail)) },
    });
    expect(mailsTo(anna)).toHaveLength(1);
  });

  it('have no more noted of them at once than is told at once, and nothing while that waits', async () => {
    const { paymentUid } = await shop.payment({ webhookUrl: 'https://example.com/hook' });
    const owner = await member('owner');
    await choose(owner, 'webhook');
    const noted: number[] = [];
    const undone = service.world.database.transaction(async (tx) => {
      for (const round of [1, 2]) {
        await tx`
          with made as (
            insert into payments select (jsonb_populate_record(p, jsonb_build_object('id', gen_random_uuid()))).* from payments p, generate_series(1, 3) where p.id = ${paymentUid} returning id)
          insert into webhook_events (id, payment_id, gateway_id, status, url, body, state, attempts, next_attempt_at, created_at)
          select gen_random_uuid(), id, ${shop.id}, 'EXPIRED', 'https://example.com/hook', '{}', 'exhausted', 6, now(), sluice_now() + make_interval(secs => ${round}) from made`;
        noted.push(await noteWebhooks(tx, { notesOfPerson: 2 }));
        if (round === 2) await tx`update notifications set mail_id = id, taken_at = now(), sent_at = now() where person_id = ${owner.id}`;
        noted.push(await noteWebhooks(tx, { notesOfPerson: 2 }));
      }
      throw new Error('none of it was ever made');
    });
    await expect(undone).rejects.toThrow('none of it');
    expect(noted).toEqual([2, 0, 0, 2]);
  });

  it('are fifty who are told', async () => {
    await people(POLICY.notifiedOfGateway);
    const anna = await member('approver');
    await expect(choose(anna, 'approval')).rejects.toMatchObject({ code: 'conflict' });
    await choose(anna);
  });

  it('take nobody’s place at another gateway: whoever is told of both hears of the other one, however much waits of theirs', async () => {
    const [anna, theirs] = [await member('owner'), await service.aShop()];
    await sql()`insert into memberships (id, person_id, gateway_id, role) values (gen_random_uuid(), ${anna.id}, ${theirs.id}, 'owner')`;
    await choose(anna, 'approval');
    // As much as may wait, and as many mails as go out within an hour.
    await sql()`
      insert into notifications (id, person_id, gateway_id, kind, subject, at)
      select gen_random_uuid(), ${anna.id}, ${theirs.id}, 'webhook', gen_random_uuid(), sluice_now() from generate_series(1, ${POLICY.notesInMail}::int)`;
    await sql()`
      insert into notifications (id, person_id, gateway_id, kind, subject, at, mail_id, taken_at, sent_at)
      select gen_random_uuid(), ${anna.id}, ${theirs.id}, 'webhook', gen_random_uuid(), sluice_now(), gen_random_uuid(), sluice_now(), sluice_now()
      from generate_series(1, ${POLICY.notificationsPerHour}::int)`;
    const id = await cashout('50');
    await look();
    expect(mailsTo(anna)).toEqual([]);
    // As after an hour of a deployment with many cashouts: a look reads a thousand numbers again, and no more.
    await sql()`select setval(pg_get_serial_sequence('settlement_events', 'id'), nextval(pg_get_serial_sequence('settlement_events', 'id')) + 5_000)`;
    await cashout('51');
    for (let looks = 0; looks < 2; looks++) await look();
    await service.world.advance(3_601);
    await look();
    await look();
    expect(mailsTo(anna).filter(({ text }) => text.includes(`/g/${shop.id}/cashouts/${id}`))).toHaveLength(1);
  });

  it('are none of the fifty once they left', async () => {
    const anna = await member('approver');
    await people(POLICY.notifiedOfGateway);
    await look();
    await choose(anna, 'approval');
    await sql()`update memberships set ended_at = sluice_now() where person_id = ${anna.id}`;
    await look();
    expect(await sql()`select 1 from notification_choices where gateway_id = ${shop.id}`).toEqual([]);
  });

  it('keep nobody else from their mail, whatever goes wrong with what is noted or sent for one of them', async () => {
    const [ben, anna] = [await member('owner'), await member('approver')];
    await choose(ben, 'approval', 'credits');
    await choose(anna, 'approval');
    await sql()`update gateways set settings = jsonb_set(settings, '{screening,enabled}', 'true') where id = ${shop.id}`;
    // Ben waits the longest, so that everybody else is behind him.
    await sql()`
      insert into notifications (id, person_id, gateway_id, kind, subject, at)
      values (gen_random_uuid(), ${ben.id}, ${shop.id}, 'approval', gen_random_uuid(), sluice_now() - interval '1 day')`;
    await cashout('50');
    await sql().unsafe(`
      create function not_foreseen() returns trigger language plpgsql as $$ begin
        if new.kind = 'credits' or (tg_op = 'UPDATE' and new.person_id = '${ben.id}') then raise exception 'nobody foresaw this'; end if;
        return new;
      end $$;
      create trigger not_foreseen before insert or update on notifications for each row execute function not_foreseen()`);
    const looked = await look().then(
      () => 'whole',
      (error: Error) => error.message,
    );
    await sql().unsafe('drop function not_foreseen cascade');
    expect([mailsTo(anna).length, looked]).toEqual([1, 'nobody foresaw this']);
  });
});

describe('a mail', () => {
  it('holds twenty links of a kind at most, and says how many more there are', () => {
    const notes = Array.from({ length: 25 }, () => ({ gatewayId: shop.id, kind: 'parked' as const, subject: randomUUID(), at: new Date(0) }));
    const { subject, text } = notificationMail(notes, { mailId: '1', to: 'a@b.example', origin: ORIGIN, language: null });
    expect([subject, text.split('/cashouts/').length - 1, text.includes('and 5 more')]).toEqual(['25 things need a look', 20, true]);
  });
});

describe('files of each month', () => {
  const OFF = { 'column:ledger:at': 'on', 'column:ledger:amount': 'on' };
  const want = ({ cookie }: Member, fields: Record<string, string>) =>
    desk.doGatewayAct({ cookie, address: ADDRESS, gateway: shop.id, act: 'export-monthly', fields: { language: 'es', ...fields }, proof: '' });
  const toNextMonth = async (): Promise<{ from: string; until: string }> => {
    const [{ from, until, seconds }] = (await sql()`
      select m.from::text, (m.from + interval '1 month')::text as until, extract(epoch from (m.from + interval '1 month') at time zone 'UTC' - sluice_now())::float8 as seconds
      from (select date_trunc('month', sluice_now() at time zone 'UTC') as from) m`) as unknown as [{ from: string; until: string; seconds: number }];
    await service.wait(Math.ceil(seconds) + 90);
    return { from, until };
  };
  const ask = () => makeMonthlyExports({ ...service.worker, wake: () => undefined });
  const make = async (): Promise<void> => {
    while (await makeNextPart(service.worker));
  };
  const files = () => sql()`
    select kind, format, columns, (from_at at time zone 'UTC')::text as from, (until at time zone 'UTC')::text as until, state from exports where gateway_id = ${shop.id} order by kind`;

  beforeEach(() => sql()`delete from monthly_exports`);

  it('are made once when the month is over, shared by who wants the same, and told once with a link to the page, in the language of each', async () => {
    const [anna, ben, carl] = [await member('finance'), await member('finance'), await member('finance')];
    await want(anna, { 'monthly:ledger': 'csv', ...OFF });
    await want(ben, { 'monthly:ledger': 'csv', ...OFF, language: 'en' });
    await ask();
    expect(await files()).toEqual([]);
    const { from, until } = await toNextMonth();
    await Promise.all([ask(), ask()]);
    await make();
    // Whoever stops between any two of these begins here again.
    await ask();
    failing = true;
    await look();
    failing = false;
    await look();
    await look();
    expect(await files()).toEqual([{ kind: 'ledger', format: 'csv', columns: ['at', 'amount'], from, until, state: 'ready' }]);
    const [{ id }] = (await sql()`select id from exports where gateway_id = ${shop.id}`) as unknown as [{ id: string }];
    expect(mailsTo(anna)).toMatchObject([{ subject: 'La exportación de un mes está lista, y se guarda siete días' }]);
    expect(mailsTo(anna)[0]?.text).toContain(`${ORIGIN}/g/${shop.id}/reports#${id}`);
    expect(mailsTo(ben)).toMatchObject([{ subject: 'The export of a month is ready, and kept for seven days' }]);
    expect(mailsTo(carl)).toEqual([]);
  });

  it('are made one at a time, so that what somebody asks for meanwhile has its place, and say when one could not be made', async () => {
    const anna = await member('finance');
    await want(anna, { 'monthly:ledger': 'csv', ...OFF, 'monthly:credits': 'jsonl', 'column:credits:net': 'on' });
    const [month, shared] = [await toNextMonth(), shop];
    shop = await service.aShop();
    const other = await member('finance');
    await sql()`insert into monthly_exports (person_id, gateway_id, kind, format, columns, since) values (${other.id}, ${shop.id}, 'ledger', 'csv', '{at}', ${month.from}::date)`;
    expect(await ask()).toBe(2);
    expect(await ask()).toBe(0);
    await sql()`update exports set state = 'failed', problem = 'too_large', ended_at = sluice_now() where gateway_id = ${shared.id}`;
    await make();
    expect(await ask()).toBe(1);
    await make();
    await look();
    expect(mailsTo(anna)).toMatchObject([
      { subject: '2 asuntos piden una mirada', text: expect.stringContaining('No se pudo crear la exportación de un mes') },
    ]);
    expect(mailsTo(other)).toHaveLength(1);
  });

  it('leave nobody to be told once everybody was, though it is kept until the next month is over which files there were', async () => {
    const isAnybody = async (): Promise<boolean> => {
      const [{ is }] = (await sql()`select ${isAnybodyToTell(sql())} as is`) as unknown as [{ is: boolean }];
      return is;
    };
    await sql()`delete from notification_choices`;
    await want(await member('finance'), { 'monthly:ledger': 'csv', ...OFF });
    await toNextMonth();
    await look();
    expect(await isAnybody()).toBe(false);
    await ask();
    expect(await isAnybody()).toBe(false);
    await make();
    expect(await isAnybody()).toBe(true);
    await look();
    expect(await isAnybody()).toBe(false);
    expect(await sql()`select 1 from monthly_export_files where gateway_id = ${shop.id}`).toHaveLength(1);
  });

  it('wait while what the gateway keeps fills its part of the disk', async () => {
    const anna = await member('finance');
    await want(anna, { 'monthly:ledger': 'csv', ...OFF });
    await toNextMonth();
    await sql()`
      insert into exports (id, gateway_id, kind, format, columns, filter, until, state, byte_count)
      select gen_random_uuid(), ${shop.id}, 'credits', 'csv', '{at}', '{}', sluice_now(), 'ready', ${POLICY.exportBytes} from generate_series(1, ${POLICY.exportsKeptBytes / POLICY.exportBytes})`;
    expect(await ask()).toBe(0);
    await sql()`delete from exports where id = (select id from exports where gateway_id = ${shop.id} limit 1)`;
    expect(await ask()).toBe(1);
    await make();
  });

  it('are asked for at every other gateway where something nobody foresaw keeps one from having theirs', async () => {
    const first = await member('finance');
    await want(first, { 'monthly:ledger': 'csv', ...OFF });
    await sql()`update monthly_exports set since = since - interval '1 month' where person_id = ${first.id}`;
    const { id: broken } = shop;
    const others = [await service.aShop(), await service.aShop(), await service.aShop()];
    for (const { id } of others)
      await sql()`insert into monthly_exports (person_id, gateway_id, kind, format, columns, since) select person_id, ${id}, kind, format, columns, since from monthly_exports where gateway_id = ${broken}`;
    for (const { id } of others)
      await sql()`insert into memberships (id, person_id, gateway_id, role) values (gen_random_uuid(), ${first.id}, ${id}, 'finance')`;
    // Gateways come in the order of their ids: whichever is first is the one it happens to.
    const places = [broken, ...others.map(({ id }) => id)].toSorted();
    const [earliest, ...behind] = places;
    await sql().unsafe(`
      create function not_foreseen() returns trigger language plpgsql as $$ begin
        if new.gateway_id = '${earliest}' then raise exception 'nobody foresaw this'; end if;
        return new;
      end $$;
      create trigger not_foreseen before insert on exports for each row execute function not_foreseen()`);
    const asked = await ask().then(
      () => 'whole',
      (error: Error) => error.message,
    );
    await sql().unsafe('drop function not_foreseen cascade');
    const made = (await sql()<{ id: string }[]>`select gateway_id as id from exports where gateway_id = any(${places}::uuid[])`).map(({ id }) => id);
    expect([made.toSorted(), asked]).toEqual([behind, 'nobody foresaw this']);
  });

  it('end with the role, and are not made while the gateway is closed', async () => {
    const [anna, ben] = [await member('finance'), await member('finance')];
    for (const one of [anna, ben]) await want(one, { 'monthly:ledger': 'csv', ...OFF });
    await toNextMonth();
    await sql()`update gateways set status = 'SUSPENDED' where id = ${shop.id}`;
    await sql()`update memberships set role = 'support' where person_id = ${anna.id}`;
    await ask();
    expect(await files()).toEqual([]);
    expect(await sql()`select person_id from monthly_exports where gateway_id = ${shop.id}`).toEqual([{ personId: ben.id }]);
    await sql()`update gateways set status = 'VERIFIED' where id = ${shop.id}`;
    await sql()`update memberships set ended_at = sluice_now() where person_id = ${ben.id}`;
    await ask();
    expect(await files()).toEqual([]);
  });

  it('take a column at least, the right to export, and for who did what that of an owner', async () => {
    const finance = await member('finance');
    await expect(want(finance, { 'monthly:ledger': 'csv' })).rejects.toMatchObject({ code: 'validation_error', field: 'monthly:ledger' });
    await expect(want(finance, { 'monthly:audit': 'csv', 'column:audit:at': 'on' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(want(await member('support'), { 'monthly:ledger': 'csv', ...OFF })).rejects.toMatchObject({ code: 'forbidden' });
    const owner = await member('owner');
    await want(owner, { 'monthly:audit': 'jsonl', 'column:audit:at': 'on' });
    await want(owner, {});
    expect(await sql()`select 1 from monthly_exports where gateway_id = ${shop.id}`).toEqual([]);
    expect(await sql()`select act, after from console_actions where act = 'export.monthly' and gateway_id = ${shop.id} order by seq`).toEqual([
      { act: 'export.monthly', after: { audit: { format: 'jsonl', columns: ['at'] } } },
      { act: 'export.monthly', after: {} },
    ]);
  });
});
