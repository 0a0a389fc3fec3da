import type { AddonConfig } from './config.ts';
import { linesOf } from './variants/script.ts';
import { isRecord, ScriptError } from './variants/path.ts';

/** Names of fields that contain credentials. */
const secretName =
  /(?:api_?key|access_?key|private_?key|token|passw(?:or)?d|passphrase|secret|auth|authorization|credential|cookie)s?$/i;
/** User information before the host of an address. */
const userInfo = /^((?:[a-z][a-z\d+.-]*:)?\/\/)?[^/?#]*@/i;
/** Names and values of query parameters. */
const queryPair = /(^|[?&'"])([\w.-]+)=[^&#\s'"]*/g;

/** Removes all credentials from a configuration. Addresses of addons are preserved. */
export function withoutCredentials(config: AddonConfig): AddonConfig {
  const { openposterdbParameters, openposterdbUrl, parentConfig, proxy, services, variants, ...rest } = config;
  return {
    ...withoutSecrets(rest),
    ...(openposterdbUrl === undefined ? {} : { openposterdbUrl: openposterdbUrl && withoutUserInfo(openposterdbUrl) }),
    ...(openposterdbParameters === undefined
      ? {}
      : { openposterdbParameters: openposterdbParameters && withoutQuerySecrets(openposterdbParameters) }),
    ...(variants
      ? { variants: variants.map((one) => ({ ...withoutSecrets(one), script: scriptWithoutSecrets(one.script) })) }
      : {}),
    ...(services ? { services: services.map((one) => ({ ...withoutSecrets(one), credentials: {} })) } : {}),
    ...(parentConfig ? { parentConfig: { ...withoutSecrets(parentConfig), password: '' } } : {}),
    ...(proxy
      ? {
          proxy: {
            ...withoutSecrets(proxy),
            ...(proxy.url ? { url: withoutUserInfo(proxy.url) } : {}),
            ...(proxy.publicUrl ? { publicUrl: withoutUserInfo(proxy.publicUrl) } : {}),
            credentials: null,
          },
        }
      : {}),
  };
}

/** Removes user information and keys in the query from an address. */
function withoutUserInfo(address: string): string {
  return withoutQuerySecrets(address.replace(userInfo, '$1'));
}

function withoutQuerySecrets(text: string): string {
  return text.replaceAll(queryPair, (pair, before: string, name: string) =>
    name.toLowerCase() === 'key' || secretName.test(name) ? `${before}${name}=` : pair,
  );
}

/** Removes credentials from a value recursively. Booleans with such names are preserved. */
function withoutSecrets<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutSecrets(item)) as Value;
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([name, inner]) => typeof inner === 'boolean' || !secretName.test(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutSecrets(inner)])) as Value;
}

/** Removes instructions that set a secret from a script, and its comments if it contains a secret. */
function scriptWithoutSecrets(script: string): string {
  const plain = withoutQuerySecrets(script.replaceAll(/\/\/[^\s/?#'"]*@/g, '//'));
  if (!namesSecret(plain)) return plain;
  try {
    return linesOf(plain)
      .filter((line) => /^use\s+variant\s/.test(line) || !namesSecret(withoutValues(line)))
      .join('\n');
  } catch (error) {
    // An invalid script cannot be filtered and has no effect.
    if (error instanceof ScriptError) return '';
    throw error;
  }
}

function namesSecret(text: string): boolean {
  return (text.match(/[A-Za-z_]\w*/g) ?? []).some((word) => secretName.test(word));
}

/** Removes text values from an instruction, but not the names of fields. */
function withoutValues(line: string): string {
  return line.replaceAll(/(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')(\s*:)?/g, (quoted, colon?: string) =>
    colon === undefined ? '""' : quoted,
  );
}
