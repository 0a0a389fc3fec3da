/** Descriptions of certificate errors by the code that Node reports for the failed handshake. */
const problems: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it signed itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'nobody here knows who signed it',
  UNABLE_TO_GET_ISSUER_CERT: 'nobody here knows who signed it',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'nobody here knows who signed it',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'nobody here knows who signed it',
  CERT_UNTRUSTED: 'nobody here knows who signed it',
  CERT_SIGNATURE_FAILURE: 'its signature is wrong',
  CERT_HAS_EXPIRED: 'it has expired',
  CERT_NOT_YET_VALID: 'it is not valid yet, or the clock of this machine is wrong',
  CERT_REVOKED: 'it was revoked',
  CERT_REJECTED: 'it is not meant for this',
  INVALID_PURPOSE: 'it is not meant for this',
  INVALID_CA: 'who signed it may not sign',
  PATH_LENGTH_EXCEEDED: 'who signed it may not sign',
  CERT_CHAIN_TOO_LONG: 'too many signed it',
  HOSTNAME_MISMATCH: 'it is for another name',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it is for another name',
};

/** Returns the certificate error as part of a sentence; undefined for other failures. */
export function findCertificateProblem(code: unknown): string | undefined {
  return typeof code === 'string' && Object.hasOwn(problems, code) ? problems[code] : undefined;
}
