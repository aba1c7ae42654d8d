import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

/** What a name has: addresses of both families, another name, or (`silent`) a server that never answers. */
export type NameRecord = { addresses?: readonly string[]; alias?: string } | 'silent';

export interface NameServer {
  /** `address:port`. */
  address: string;
  /** Names asked for, each with its type. */
  asked: string[];
  /** What it answers from now on; a name that is missing does not exist. */
  records: Map<string, NameRecord>;
  stop(): Promise<void>;
}

const TYPE = { a: 1, alias: 5, aaaa: 28 } as const;

/** A DNS server on loopback that answers A, AAAA and CNAME as told, and follows aliases in its answers as resolvers do. */
export async function aNameServer(records: Record<string, NameRecord>): Promise<NameServer> {
  const known = new Map(Object.entries(records));
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    asked.push(`${name} ${type === TYPE.aaaa ? 'AAAA' : 'A'}`);
    const answers: Buffer[] = [];
    let at = name;
    let record = known.get(at);
    for (let hops = 0; hops < 8 && record !== undefined && record !== 'silent' && record.alias !== undefined; hops++) {
      answers.push(resource(at, TYPE.alias, encodeName(record.alias)));
      at = record.alias;
      record = known.get(at);
    }
    if (record === 'silent') return;
    for (const address of record?.addresses ?? []) if (address.includes(':') === (type === TYPE.aaaa)) answers.push(resource(at, type, packed(address)));
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(record === undefined && answers.length === 0 ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answers.length, 6);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...answers]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    asked,
    records: known,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function resource(name: string, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([encodeName(name), head, data]);
}

function encodeName(name: string): Buffer {
  return Buffer.concat([...name.split('.').map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])), Buffer.from([0])]);
}

function packed(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string): string[] => text.split(':').filter((group) => group !== '');
  const [before, after] = [groups(head), groups(tail ?? '')];
  const all = tail === undefined ? before : [...before, ...Array.from({ length: 8 - before.length - after.length }, () => '0'), ...after];
  return Buffer.from(all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]));
}
