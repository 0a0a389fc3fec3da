import type { InboxItem } from '../../services/contracts/inbox/api.ts';
import { adminAuthorization } from './host.ts';

/**
 * Calls the app API as the administrator.
 * @throws Error with the text of an unsuccessful response.
 */
export async function api<T>(base: string, path: string, init: RequestInit = {}): Promise<T> {
  const reply = await fetch(base + path, {
    ...init,
    headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json', ...init.headers },
  });
  if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
  return (await reply.json()) as T;
}

/** Returns the current inbox, newest first. */
export async function inbox(base: string): Promise<readonly InboxItem[]> {
  return (await api<{ items: readonly InboxItem[] }>(base, '/api/inbox?limit=200')).items;
}
