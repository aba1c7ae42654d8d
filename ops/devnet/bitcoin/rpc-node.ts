import { WARNING } from './demo.ts';
import { method, type Methods } from './method.ts';
import { POLICY } from './parameters.ts';
import { coins } from './request.ts';
import { scriptOfAddress, typeOf, witnessProgram } from './script.ts';
import { toHex } from './bytes.ts';

const SERVICES = { localservices: '0000000000000c09', localservicesnames: ['NETWORK', 'WITNESS', 'NETWORK_LIMITED', 'P2P_V2'] };
const IDLE = { backlog: 0, count_tok: 420, size_tok: 12_000_000 };

/** Methods about the node itself. */
export const nodeMethods: Methods = {
  getnetworkinfo: method([], () => ({
    version: 319_900,
    subversion: '/Satoshi:31.99.0(local)/',
    protocolversion: 70_017,
    ...SERVICES,
    localrelay: true,
    timeoffset: 0,
    tx_send_rate: 14,
    inv_buckets: { inbound: IDLE, outbound: IDLE },
    networkactive: true,
    connections: 0,
    connections_in: 0,
    connections_out: 0,
    networks: ['ipv4', 'ipv6', 'onion', 'i2p', 'cjdns'].map((name) => {
      const open = name.startsWith('ip');
      return { name, limited: !open, reachable: open, proxy: '', proxy_randomize_credentials: false };
    }),
    relayfee: coins(POLICY.minRelayRate),
    incrementalfee: coins(POLICY.incrementalRelayRate),
    localaddresses: [],
    warnings: [WARNING],
  })),
  getindexinfo: method(['index_name'], (node) => ({ txindex: { synced: true, best_block_height: node.chain.tip().height } })),
  validateaddress: method(['address'], (_node, ask) => {
    const address = ask.text('address');
    const script = scriptOfAddress(address);
    if (script === null) return { isvalid: false, error_locations: [], error: 'Invalid or unsupported Segwit (Bech32) or Base58 encoding.' };
    const witness = witnessProgram(script);
    return {
      isvalid: true,
      address,
      scriptPubKey: toHex(script),
      isscript: ['scripthash', 'witness_v0_scripthash', 'witness_v1_taproot', 'anchor'].includes(typeOf(script)),
      iswitness: witness !== null,
      ...(witness !== null && { witness_version: witness.version, witness_program: toHex(witness.program) }),
    };
  }),
};
