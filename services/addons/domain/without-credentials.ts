import type { AddonConfig } from './config.ts';
import { linesOf } from './variants/script.ts';
import { isRecord, ScriptError } from './variants/path.ts';

/** Members by whose names one tells that they open something. */
const secretName =
  /(?:api_?key|access_?key|private_?key|token|passw(?:or)?d|passphrase|secret|auth|authorization|credential|cookie)s?$/i;
/** Who signs in, before the host of an address. */
const userInfo = /^((?:[a-z][a-z\d+.-]*:)?\/\/)?[^/?#]*@/i;
/** Names and values of a query, wherever one stands. */
const queryPair = /(^|[?&'"])([\w.-]+)=[^&#\s'"]*/g;

/** A configuration without what opens accounts; addresses of addons stay as they are. */
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

/** An address without who signs in there, and without keys in its query. */
function withoutUserInfo(address: string): string {
  return withoutQuerySecrets(address.replace(userInfo, '$1'));
}

function withoutQuerySecrets(text: string): string {
  return text.replaceAll(queryPair, (pair, before: string, name: string) =>
    name.toLowerCase() === 'key' || secretName.test(name) ? `${before}${name}=` : pair,
  );
}

/** A value without what opens something, however deep it lies. Switches of such names tell nothing. */
function withoutSecrets<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map((item: unknown) => withoutSecrets(item)) as Value;
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([name, inner]) => typeof inner === 'boolean' || !secretName.test(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutSecrets(inner)])) as Value;
}

/** The script without instructions that put a secret somewhere, and then without its comments, where one may stand as well. */
function scriptWithoutSecrets(script: string): string {
  const plain = withoutQuerySecrets(script.replaceAll(/\/\/[^\s/?#'"]*@/g, '//'));
  if (!namesSecret(plain)) return plain;
  try {
    return linesOf(plain)
      .filter((line) => /^use\s+variant\s/.test(line) || !namesSecret(withoutValues(line)))
      .join('\n');
  } catch (error) {
    // What cannot be read cannot be sorted out either, and has no effect.
    if (error instanceof ScriptError) return '';
    throw error;
  }
}

function namesSecret(text: string): boolean {
  return (text.match(/[A-Za-z_]\w*/g) ?? []).some((word) => secretName.test(word));
}

/** An instruction without its texts, but with those that name members. */
function withoutValues(line: string): string {
  return line.replaceAll(/(?:"(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*')(\s*:)?/g, (quoted, colon?: string) =>
    colon === undefined ? '""' : quoted,
  );
}
