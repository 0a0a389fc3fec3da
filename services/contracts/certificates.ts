import * as m from '#messages/contracts-problems';

/** Descriptions of certificate errors by the code that Node reports for the failed handshake. */
const problems: Readonly<Record<string, () => string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: m.certificateSelfSigned,
  SELF_SIGNED_CERT_IN_CHAIN: m.certificateIssuerUnknown,
  UNABLE_TO_GET_ISSUER_CERT: m.certificateIssuerUnknown,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: m.certificateIssuerUnknown,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: m.certificateIssuerUnknown,
  CERT_UNTRUSTED: m.certificateIssuerUnknown,
  CERT_SIGNATURE_FAILURE: m.certificateSignatureInvalid,
  CERT_HAS_EXPIRED: m.certificateExpired,
  CERT_NOT_YET_VALID: m.certificateNotYetValid,
  CERT_REVOKED: m.certificateRevoked,
  CERT_REJECTED: m.certificateWrongPurpose,
  INVALID_PURPOSE: m.certificateWrongPurpose,
  INVALID_CA: m.certificateIssuerNotAllowed,
  PATH_LENGTH_EXCEEDED: m.certificateIssuerNotAllowed,
  CERT_CHAIN_TOO_LONG: m.certificateChainTooLong,
  HOSTNAME_MISMATCH: m.certificateOtherName,
  ERR_TLS_CERT_ALTNAME_INVALID: m.certificateOtherName,
};

/** Returns the certificate error as part of a sentence for its reader; undefined for other failures. */
export function findCertificateProblem(code: unknown): (() => string) | undefined {
  return typeof code === 'string' && Object.hasOwn(problems, code) ? problems[code] : undefined;
}

/** Returns the text for a certificate that is not trusted, when its error has no description. */
export const getUntrustedText = m.certificateNotTrusted;
