/** PostgreSQL refuses to be root; where we are, its programs and files are this user's (`nobody` of most systems). */
export const owner: { readonly uid: number; readonly gid: number } | undefined =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
