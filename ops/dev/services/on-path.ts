import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Where the first of these programs is, looking through PATH folder by folder. */
export async function onPath(names: string[]): Promise<string | undefined> {
  for (const folder of (process.env.PATH ?? '').split(delimiter))
    for (const name of names) {
      const command = join(folder, name);
      if (await isExecutable(command)) return command;
    }
  return undefined;
}

/** True when this file may be run. */
export async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
