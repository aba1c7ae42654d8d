import { readFileSync } from 'node:fs';
import solc from 'solc';

export interface CompiledContract {
  /** Creation bytecode, 0x-prefixed. */
  bytecode: string;
}

const FILES = ['tokens.sol', 'passers.sol'];

/** Compiles every contract here; the same compiler gives the same bytes on every machine. */
export function compileContracts(): Record<string, CompiledContract> {
  const output = JSON.parse(
    solc.compile(
      JSON.stringify({
        language: 'Solidity',
        sources: Object.fromEntries(FILES.map((file) => [file, { content: readFileSync(new URL(file, import.meta.url), 'utf8') }])),
        settings: {
          optimizer: { enabled: true, runs: 200 },
          evmVersion: 'paris',
          metadata: { bytecodeHash: 'none', appendCBOR: false },
          outputSelection: { '*': { '*': ['evm.bytecode.object'] } },
        },
      }),
    ),
  ) as { errors?: { severity: string; formattedMessage: string }[]; contracts: Record<string, Record<string, { evm: { bytecode: { object: string } } }>> };
  const errors = (output.errors ?? []).filter((error) => error.severity === 'error');
  if (errors.length > 0) throw new Error(errors.map((error) => error.formattedMessage).join('\n'));
  return Object.fromEntries(
    FILES.flatMap((file) => Object.entries(output.contracts[file] ?? {}))
      .filter(([, contract]) => contract.evm.bytecode.object !== '')
      .map(([name, contract]) => [name, { bytecode: `0x${contract.evm.bytecode.object}` }]),
  );
}
