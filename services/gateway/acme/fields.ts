import * as m from '#messages/gateway-certificate-settings';
import { isIP } from 'node:net';
import { z } from 'zod';
import type { Text } from '../../contracts/text.ts';
import { pathSetting } from '../../kit/platform/path-setting.ts';

/** Ways to prove the control of the domain: a DNS provider, a TXT record by hand, or HTTP. */
const Confirmation = z.enum(['cloudflare', 'duckdns', 'hetzner', 'desec', 'rfc2136', 'manual', 'http']);
type Confirmation = z.infer<typeof Confirmation>;

/** Titles of the confirmations. */
export const confirmationTitles: Readonly<Record<Confirmation, Text>> = {
  cloudflare: 'Cloudflare',
  duckdns: 'DuckDNS',
  hetzner: 'Hetzner',
  desec: 'deSEC',
  rfc2136: m.rfc2136,
  manual: m.manual,
  http: m.http,
};

const domainPattern = /^(?:(?=.{4,230}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9]))?$/;
const directory = z
  .string()
  .max(2048)
  .regex(/^(https:\/\/[^\s/?#]+[^\s#]*)?$/, { error: m.directoryInvalid })
  .default('');
const server = z
  .string()
  .max(300)
  .regex(/^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)?(:\d{1,5})?$/, { error: m.serverInvalid });

/** Address of a DNS server with an optional port; the system's resolver accepts no host names. */
const resolver = z.string().max(300).refine(isResolver, { error: m.resolverInvalid });

/** Settings of the certificate from a public authority. */
export const acmeFields = {
  acmeDomain: z
    .string()
    .trim()
    .toLowerCase()
    .max(230)
    .regex(domainPattern, { error: m.domainInvalid })
    .default('')
    .meta({ live: true, label: m.domain, help: m.domainHelp }),
  acmeConfirmation: Confirmation.default('manual').meta({
    live: true,
    needs: { acmeDomain: true },
    label: m.confirmation,
    help: m.confirmationHelp,
    choices: confirmationTitles,
  }),
  acmeToken: z
    .string()
    .max(1024)
    .regex(/^[\x21-\x7e]*$/, { error: m.tokenInvalid })
    .default('')
    .meta({ live: true, needs: { acmeDomain: true }, secret: true, label: m.token, help: m.tokenHelp }),
  acmeAuthority: z
    .enum(['letsencrypt', 'zerossl', 'custom'])
    .default('letsencrypt')
    .meta({
      live: true,
      needs: { acmeDomain: true },
      label: m.authority,
      help: m.authorityHelp,
      choices: { letsencrypt: "Let's Encrypt", zerossl: 'ZeroSSL', custom: m.customAuthority },
    }),
  acmeTermsAgreed: z
    .boolean()
    .default(false)
    .meta({ live: true, needs: { acmeDomain: true }, label: m.terms, help: m.termsHelp }),
  acmeEmail: z
    .string()
    .max(254)
    .regex(/^([^\s@]+@[^\s@]+)?$/, { error: m.emailInvalid })
    .default('')
    .meta({ live: true, needs: { acmeDomain: true }, label: m.email, help: m.emailHelp }),
  acmeDirectory: directory.meta({
    live: true,
    needs: { acmeDomain: true, acmeAuthority: ['custom'] },
    label: m.directory,
    help: m.directoryHelp,
  }),
  acmeStagingDirectory: directory.meta({
    live: true,
    needs: { acmeDomain: true, acmeAuthority: ['custom'] },
    label: m.stagingDirectory,
    help: m.stagingDirectoryHelp,
  }),
  acmeCaFile: pathSetting
    .default('')
    .meta({ live: true, needs: { acmeDomain: true, acmeAuthority: ['custom'] }, label: m.caFile, help: m.caFileHelp }),
  acmeKeyId: z
    .string()
    .max(256)
    .default('')
    .meta({ live: true, needs: { acmeDomain: true }, label: m.keyId, help: m.keyIdHelp }),
  acmeHmacKey: z
    .string()
    .max(1024)
    .regex(/^[A-Za-z0-9_+/=-]*$/, { error: m.hmacKeyInvalid })
    .default('')
    .meta({ live: true, needs: { acmeDomain: true }, secret: true, label: m.hmacKey, help: m.hmacKeyHelp }),
  acmeDnsServer: server.default('').meta({
    live: true,
    needs: { acmeDomain: true, acmeConfirmation: ['rfc2136'] },
    label: m.dnsServer,
    help: m.dnsServerHelp,
  }),
  acmeTsigName: z
    .string()
    .max(250)
    .regex(/^[A-Za-z0-9._-]*$/, { error: m.tsigNameInvalid })
    .default('')
    .meta({
      live: true,
      needs: { acmeDomain: true, acmeConfirmation: ['rfc2136'] },
      label: m.tsigName,
      help: m.tsigNameHelp,
    }),
  acmeTsigAlgorithm: z
    .enum(['hmac-sha256', 'hmac-sha384', 'hmac-sha512'])
    .default('hmac-sha256')
    .meta({
      live: true,
      needs: { acmeDomain: true, acmeConfirmation: ['rfc2136'] },
      label: m.tsigAlgorithm,
      help: m.tsigAlgorithmHelp,
    }),
  acmeTsigSecret: z
    .string()
    .max(1024)
    .regex(/^[A-Za-z0-9+/]*={0,2}$/, { error: m.tsigSecretInvalid })
    .default('')
    .meta({
      live: true,
      needs: { acmeDomain: true, acmeConfirmation: ['rfc2136'] },
      secret: true,
      label: m.tsigSecret,
      help: m.tsigSecretHelp,
    }),
  acmeResolvers: z
    .array(resolver)
    .max(10)
    .default([])
    .meta({ live: true, needs: { acmeDomain: true }, label: m.resolvers, help: m.resolversHelp }),
  acmePropagationSeconds: z
    .int()
    .min(5)
    .max(7200)
    .default(600)
    .meta({ live: true, needs: { acmeDomain: true }, label: m.propagation, help: m.propagationHelp }),
} as const;

/** Environment variables of the settings. */
export const acmeEnvironment = {
  GATEWAY_ACME_DOMAIN: 'acmeDomain',
  GATEWAY_ACME_CONFIRMATION: 'acmeConfirmation',
  GATEWAY_ACME_TOKEN: 'acmeToken',
  GATEWAY_ACME_AUTHORITY: 'acmeAuthority',
  GATEWAY_ACME_TERMS_AGREED: 'acmeTermsAgreed',
  GATEWAY_ACME_EMAIL: 'acmeEmail',
  GATEWAY_ACME_DIRECTORY: 'acmeDirectory',
  GATEWAY_ACME_STAGING_DIRECTORY: 'acmeStagingDirectory',
  GATEWAY_ACME_CA_FILE: 'acmeCaFile',
  GATEWAY_ACME_KEY_ID: 'acmeKeyId',
  GATEWAY_ACME_HMAC_KEY: 'acmeHmacKey',
  GATEWAY_ACME_DNS_SERVER: 'acmeDnsServer',
  GATEWAY_ACME_TSIG_NAME: 'acmeTsigName',
  GATEWAY_ACME_TSIG_ALGORITHM: 'acmeTsigAlgorithm',
  GATEWAY_ACME_TSIG_SECRET: 'acmeTsigSecret',
  GATEWAY_ACME_RESOLVERS: 'acmeResolvers',
  GATEWAY_ACME_PROPAGATION_SECONDS: 'acmePropagationSeconds',
} as const;

function isResolver(text: string): boolean {
  const [, bracketed, plain, port = '53'] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const isAddress = bracketed === undefined ? isIP(plain ?? '') === 4 : isIP(bracketed) === 6;
  return isAddress && Number(port) > 0 && Number(port) <= 65_535;
}
