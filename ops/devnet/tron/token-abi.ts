interface Parameter {
  name?: string;
  type: string;
  indexed?: boolean;
}

const read = (name: string, inputs: Parameter[], output: string) => ({
  outputs: [{ type: output }],
  ...(inputs.length > 0 && { inputs }),
  constant: true,
  name,
  stateMutability: 'View',
  type: 'Function',
});

const write = (name: string, inputs: Parameter[]) => ({ outputs: [{ type: 'bool' }], inputs, name, stateMutability: 'Nonpayable', type: 'Function' });

const event = (name: string, inputs: Parameter[]) => ({ inputs, name, type: 'Event' });

/** The interface of a TRC-20 as `getcontract` prints it: enum names capitalised, empty lists left out. */
export const TRC20_ABI = [
  read('name', [], 'string'),
  read('symbol', [], 'string'),
  read('decimals', [], 'uint8'),
  read('totalSupply', [], 'uint256'),
  read('balanceOf', [{ name: 'who', type: 'address' }], 'uint256'),
  read(
    'allowance',
    [
      { name: 'owner', type: 'address' },
      { name: 'spender', type: 'address' },
    ],
    'uint256',
  ),
  write('transfer', [
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
  ]),
  write('approve', [
    { name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
  ]),
  write('transferFrom', [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
  ]),
  event('Transfer', [
    { indexed: true, name: 'from', type: 'address' },
    { indexed: true, name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
  ]),
  event('Approval', [
    { indexed: true, name: 'owner', type: 'address' },
    { indexed: true, name: 'spender', type: 'address' },
    { name: 'value', type: 'uint256' },
  ]),
];
