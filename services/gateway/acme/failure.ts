import * as m from '#messages/gateway-certificates';
import { Problem, type ProblemOptions } from '../../contracts/problem.ts';

/** Values of a failure's text, such as the domain and the reason of the authority. */
export type FailureValues = Readonly<Record<string, string>>;

type FailureText = (values: { readonly host: string; readonly name: string; readonly reason: string }) => string;

/** Texts of the failures of a certificate order, by code: cause and remedy. */
const texts = {
  'acme.account': m.failureAccount,
  'acme.authority_down': m.failureAuthorityDown,
  'acme.authority_failed': m.failureAuthorityFailed,
  'acme.bad_reply': m.failureBadReply,
  'acme.caa': m.failureCaa,
  'acme.ca_file': m.failureCaFile,
  'acme.certificate_rejected': m.failureCertificateRejected,
  'acme.clock': m.failureClock,
  'acme.dns_failed': m.failureDnsFailed,
  'acme.dns_token': m.failureDnsToken,
  'acme.dns_zone': m.failureDnsZone,
  'acme.domain_rejected': m.failureDomainRejected,
  'acme.external_account': m.failureExternalAccount,
  'acme.nothing_shared': m.failureNothingShared,
  'acme.order_invalid': m.failureOrderInvalid,
  'acme.propagation': m.failurePropagation,
  'acme.rate_limited': m.failureRateLimited,
  'acme.record_missing': m.failureRecordMissing,
  'acme.unexpected': m.failureUnexpected,
  'acme.validation_dns': m.failureValidationDns,
  'acme.validation_http': m.failureValidationHttp,
} satisfies Record<string, FailureText>;

/** Stable code of a failure. */
export type FailureCode = keyof typeof texts;

/** Failures that a repetition does not solve: the owner has to change something first. */
const finalCodes: ReadonlySet<FailureCode> = new Set<FailureCode>([
  'acme.account',
  'acme.caa',
  'acme.ca_file',
  'acme.dns_token',
  'acme.dns_zone',
  'acme.domain_rejected',
  'acme.external_account',
  'acme.nothing_shared',
  'acme.record_missing',
]);

/** Failure of a certificate order, which can be stored and shown to each reader in their language. */
export class CertificateFailure extends Problem {
  readonly failure: FailureCode;
  readonly values: FailureValues;

  constructor(
    failure: FailureCode,
    values: FailureValues = {},
    options: Pick<ProblemOptions, 'cause' | 'retryAfterMs'> = {},
  ) {
    super(`gateway.${failure}`, 502, () => formatFailure(failure, values), options);
    this.failure = failure;
    this.values = values;
  }
}

/** Returns whether a failure persists until the owner changes something. */
export function isFinalFailure(code: string): boolean {
  return (finalCodes as ReadonlySet<string>).has(code);
}

/** Returns the text of a stored failure in the current language. */
export function formatFailure(code: string, values: FailureValues): string {
  const text = Object.hasOwn(texts, code) ? (texts as Record<string, FailureText>)[code] : undefined;
  const { host = '', name = '', reason = '' } = values;
  return (text ?? m.failureUnexpected)({ host, name, reason });
}
