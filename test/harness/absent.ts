/** A part that these tests never reach; asking it for anything throws. */
export function absent<T extends object>(what: string): T {
  return new Proxy({} as T, {
    get: (_, name) => {
      throw new Error(`nothing stands behind the ${what} here, but it was asked for ${String(name)}`);
    },
  });
}
