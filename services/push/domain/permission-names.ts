import type { Permission } from '../../contracts/control/accounts.ts';

const permissionsByName: Readonly<Record<string, Permission>> = {
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

const names: Readonly<Record<Permission, string>> = {
  'read-write': 'read-write',
  read: 'read-only',
  write: 'write-only',
  none: 'deny-all',
};

/** Parses a permission name of ntfy, ignoring case; undefined for unknown names. */
export function parsePermission(name: string): Permission | undefined {
  const lower = name.toLowerCase();
  return Object.hasOwn(permissionsByName, lower) ? permissionsByName[lower] : undefined;
}

/** Returns ntfy's name of a permission. */
export function formatPermission(permission: Permission): string {
  return names[permission];
}
