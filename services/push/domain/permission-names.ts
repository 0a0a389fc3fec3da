import type { Permission } from '../../contracts/control/accounts.ts';

const permissions: Readonly<Record<string, Permission>> = {
  'read-write': 'read-write',
  rw: 'read-write',
  'read-only': 'read',
  read: 'read',
  ro: 'read',
  'write-only': 'write',
  write: 'write',
  wo: 'write',
  'deny-all': 'none',
  deny: 'none',
  none: 'none',
};

const words: Readonly<Record<Permission, string>> = {
  'read-write': 'read-write',
  read: 'read-only',
  write: 'write-only',
  none: 'deny-all',
};

/** The permission that one of the peer's words stands for, in any case; undefined for another word. */
export function parsePermission(word: string): Permission | undefined {
  const lower = word.toLowerCase();
  return Object.hasOwn(permissions, lower) ? permissions[lower] : undefined;
}

/** The word the peer lists a permission under. */
export function permissionWord(permission: Permission): string {
  return words[permission];
}
