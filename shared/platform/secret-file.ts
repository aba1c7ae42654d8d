import { closeSync, fstatSync, openSync } from 'node:fs';

/** What a file is and to whom: the part of `Stats` that matters here. */
export interface Ownership {
  uid: number;
  /** With the kind of file in its upper bits, as `stat` gives it. */
  mode: number;
}

/** What others may do with it, and its group, in the last six bits. */
const GROUP_AND_OTHERS = 0o077;
/** The group may read what root owns: how Kubernetes (fsGroup) and systemd hand a secret to one user. */
const ALL_BUT_READING_BY_GROUP = 0o037;

/**
 * Why a file is no place for a key that moves coins, or null: it has to belong to this user and be readable by nobody else, or to root
 * and be readable by its group at most. The rule of Postgres for the key of its certificate (`ssl_key_file`).
 */
export function tooOpen({ uid, mode }: Ownership, user: number | undefined): string | null {
  const shown = (mode & 0o777).toString(8).padStart(4, '0');
  // Where the system knows no owners there are no modes either.
  if (user === undefined) return null;
  if (uid === 0)
    return (mode & ALL_BUT_READING_BY_GROUP) === 0 ? null : `has mode ${shown}: of a file of root's, its group may read it and nobody else anything (0440)`;
  if (uid !== user) return `belongs to user ${uid}: it must be this process's (${user}) or root's`;
  return (mode & GROUP_AND_OTHERS) === 0 ? null : `has mode ${shown}: others than its owner may use it (chmod 0400)`;
}

/** The same of a file by its path. @throws when it cannot be opened */
export function secretFileProblem(path: string): string | null {
  const file = openSync(path, 'r');
  try {
    return tooOpen(fstatSync(file), process.geteuid?.());
  } finally {
    closeSync(file);
  }
}
