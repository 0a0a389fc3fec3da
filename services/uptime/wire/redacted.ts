import { secretFields, sensitiveFields } from '../../contracts/uptime/monitor.ts';
import { removeHostCredentials, removeCredentials } from '../domain/target.ts';

type Fields = Readonly<Record<string, unknown>>;

const secret: ReadonlySet<string> = new Set(secretFields);
const sensitive: ReadonlySet<string> = new Set(sensitiveFields);
const addressFields: ReadonlySet<string> = new Set(['url', 'grpcUrl', 'oauth_token_url']);

/** Returns the fields visible to accounts without write permission. Secret fields are null. */
export function redactedFields(fields: Fields, replacement?: string): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, redacted(name, value, replacement)] as const),
  );
}

/** Returns the names of the fields that are redacted for accounts without write permission. */
export function redactedNames(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => (redacted(name, value) === value ? [] : [name]));
}

function redacted(name: string, value: unknown, replacement?: string): unknown {
  if (secret.has(name)) return null;
  if (!sensitive.has(name) || value === null || value === '') return value;
  if (typeof value !== 'string') return null;
  if (addressFields.has(name)) return removeCredentials(value, replacement);
  if (name === 'hostname' || name === 'dns_resolve_server') return removeHostCredentials(value);
  return null;
}
