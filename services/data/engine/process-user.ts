/**
 * User that runs PostgreSQL and owns its files when this process is root, since PostgreSQL refuses to run as root. It has
 * the id 65534, as unprivileged users on most systems.
 */
export const processUser: { readonly uid: number; readonly gid: number } | undefined =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
