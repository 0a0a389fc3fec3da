import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import { findCertificateProblem } from '../../../services/contracts/certificates.ts';
import { getLocalNetworkHint } from '../../../services/contracts/macos-privacy.ts';
import { Problem } from '../../../services/contracts/problem.ts';

/**
 * Converts an error to a Problem. Messages contain only the host: paths and queries of webhooks contain secrets.
 * `lateMs`: time limit that was exceeded, if any.
 */
export function explainFailure(
  error: unknown,
  host: string,
  lateMs?: number,
  platform: NodeJS.Platform = currentPlatform,
): Problem {
  if (error instanceof Problem) return error;
  const cause = { cause: error };
  if (lateMs !== undefined)
    return new Problem('fetch.timeout', 504, `${host} did not answer within ${lateMs / 1000} s.`, cause);
  const code = getErrorCode(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new Problem('fetch.timeout', 504, `${host} could not be reached in time.`, cause);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return new Problem('fetch.timeout', 504, `${host} fell silent.`, cause);
  const certificateProblem = findCertificateProblem(code);
  if (certificateProblem !== undefined)
    return new Problem(
      'fetch.untrusted',
      502,
      `The certificate of ${host} is not trusted: ${certificateProblem}.`,
      cause,
    );
  if (error instanceof Error && error.name === 'AbortError')
    return new Problem('fetch.failed', 502, `The request to ${host} was cancelled.`, cause);
  const reason = reasons[code] ?? (code === '' ? '' : `: ${code}`);
  const hint = code === 'EHOSTUNREACH' ? getLocalNetworkHint(`${host} ${getErrorAddress(error)}`, platform) : '';
  return new Problem('fetch.failed', 502, `${host} could not be asked${reason}. ${hint}`.trim(), cause);
}

const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: ': there is no host of this name',
  EAI_AGAIN: ': its name could not be resolved just now',
  ECONNREFUSED: ': nothing listens there',
  ECONNRESET: ': the connection broke',
  EHOSTUNREACH: ': no device answers on the way',
  UND_ERR_SOCKET: ': the connection broke',
  UND_ERR_HEADERS_OVERFLOW: ': its headers are too large',
};

/** Returns the address that a connection failed to, or the first of them. */
function getErrorAddress(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return getErrorAddress(error.errors[0]);
  return error instanceof Error && 'address' in error && typeof error.address === 'string' ? error.address : '';
}

/** Returns the code of an error, or of the first error within it. */
function getErrorCode(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return getErrorCode(error.errors[0]);
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
