import type { AddonConfig } from './config.ts';
import { splitInstructions } from './variants/script.ts';
import { ScriptError } from './variants/path.ts';
import { isRecord } from '../../contracts/is-record.ts';

/** Names of fields that contain credentials. */
const secretNamePattern =
  /(?:api_?key|access_?key|private_?key|token|passw(?:or)?d|passphrase|secret|auth|authorization|credential|cookie)s?$/i;
/** User information before the host of an address. */
const userInfoPattern = /^((?:[a-z][a-z\d+.-]*:)?\/\/)?[^/?#]*@/i;
/** Names and values of query parameters. */
const queryPattern = /(^|[?&'"])([\w.-]+)=[^&#\s'"]*/g;

/** Removes all credentials from a configuration. Addresses of addons are preserved. */
export function removeCredentials(config: AddonConfig): AddonConfig {
  const { openposterdbParameters, openposterdbUrl, parentConfig, proxy, services, variants, ...rest } = config;
  return {
    ...removeSecrets(rest),
    ...(openposterdbUrl === undefined ? {} : { openposterdbUrl: openposterdbUrl && removeUserInfo(openposterdbUrl) }),
    ...(openposterdbParameters === undefined
      ? {}
      : { openposterdbParameters: openposterdbParameters && removeQuerySecrets(openposterdbParameters) }),
    ...(variants
      ? {
          variants: variants.map((variant) => ({
            ...removeSecrets(variant),
            script: removeScriptSecrets(variant.script),
          })),
        }
      : {}),
    ...(services ? { services: services.map((service) => ({ ...removeSecrets(service), credentials: {} })) } : {}),
    ...(parentConfig ? { parentConfig: { ...removeSecrets(parentConfig), password: '' } } : {}),
    ...(proxy
      ? {
          proxy: {
            ...removeSecrets(proxy),
            ...(proxy.url ? { url: removeUserInfo(proxy.url) } : {}),
            ...(proxy.publicUrl ? { publicUrl: removeUserInfo(proxy.publicUrl) } : {}),
            credentials: null,
          },
        }
      : {}),
  };
}

/** Removes user information and keys in the query from an address. */
function removeUserInfo(address: string): string {
  return removeQuerySecrets(address.replace(userInfoPattern, '$1'));
}

function removeQuerySecrets(text: string): string {
  return text.replaceAll(queryPattern, (pair, before: string, name: string) =>
    name.toLowerCase() === 'key' || secretNamePattern.test(name) ? `${before}${name}=` : pair,
  );
}

/** Removes credentials from a value recursively. Booleans with such names are preserved. */
function removeSecrets<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map((item: unknown) => removeSecrets(item)) as Value;
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(
    ([name, inner]) => typeof inner === 'boolean' || !secretNamePattern.test(name),
  );
  return Object.fromEntries(entries.map(([name, inner]) => [name, removeSecrets(inner)])) as Value;
}

/** Removes instructions that set a secret from a script, and its comments if it contains a secret. */
function removeScriptSecrets(script: string): string {
  const redactedScript = removeQuerySecrets(script.replaceAll(/\/\/[^\s/?#'"]*@/g, '//'));
  if (!containsSecretName(redactedScript)) return redactedScript;
  try {
    return splitInstructions(redactedScript)
      .filter((line) => /^use\s+variant\s/.test(line) || !containsSecretName(removeTextValues(line)))
      .join('\n');
  } catch (error) {
    // An invalid script cannot be filtered and has no effect.
    if (error instanceof ScriptError) return '';
    throw error;
  }
}

function containsSecretName(text: string): boolean {
  return (text.match(/[A-Za-z_]\w*/g) ?? []).some((identifier) => secretNamePattern.test(identifier));
}

/** Removes text values from an instruction, but not the names of fields. */
function removeTextValues(line: string): string {
  return line.replaceAll(/(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')(\s*:)?/g, (quotedText, colon?: string) =>
    colon === undefined ? '""' : quotedText,
  );
}
