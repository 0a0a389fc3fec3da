import { readdirSync } from 'node:fs';
import type { RouteAccess } from '../../services/contracts/route-access.ts';

/** Route of the app API as its contract declares it. */
export interface DeclaredRoute {
  /** Method and path, e.g. `GET /api/inbox/:id`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly access: RouteAccess;
  readonly takesBody: boolean;
  readonly takesBytes: boolean;
}

const folder = new URL('../../services/contracts/', import.meta.url);

/** Returns every exported route of the contracts by name, including unimplemented ones. */
export async function readDeclaredRoutes(): Promise<readonly DeclaredRoute[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const routes = new Map<unknown, DeclaredRoute>();
  for (const file of files) {
    const module = (await import(new URL(file.replaceAll('\\', '/'), folder).href)) as Record<string, unknown>;
    for (const exported of Object.values(module)) {
      for (const value of [exported, ...members(exported)]) {
        const route = toRoute(value);
        if (route !== undefined) routes.set(value, route);
      }
    }
  }
  return [...routes.values()].toSorted((one, other) => one.name.localeCompare(other.name));
}

function members(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

function toRoute(value: unknown): DeclaredRoute | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { method, path, access, body, bytes } = value as Record<string, unknown>;
  if (typeof method !== 'string' || typeof path !== 'string' || !path.startsWith('/api/')) return undefined;
  return {
    name: `${method} ${path}`,
    method,
    path,
    access: access as RouteAccess,
    takesBody: body !== undefined,
    takesBytes: bytes === true,
  };
}
