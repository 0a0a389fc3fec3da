import { formatNumber } from '../../../messages/format.ts';
import * as m from '#messages/host-problems';
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
    return new Problem(
      'fetch.timeout',
      504,
      () => m.fetchTimeout({ host, seconds: formatNumber(lateMs / 1000) }),
      cause,
    );
  const code = getErrorCode(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new Problem('fetch.timeout', 504, () => m.connectTimeout({ host }), cause);
  if (code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT')
    return new Problem('fetch.timeout', 504, () => m.bodyTimeout({ host }), cause);
  const certificateProblem = findCertificateProblem(code);
  if (certificateProblem !== undefined)
    return new Problem(
      'fetch.untrusted',
      502,
      () => m.certificateUntrusted({ host, reason: certificateProblem() }),
      cause,
    );
  if (error instanceof Error && error.name === 'AbortError')
    return new Problem('fetch.failed', 502, () => m.requestCancelled({ host }), cause);
  const address = code === 'EHOSTUNREACH' ? getErrorAddress(error) : '';
  const text = (): string => {
    const reason = formatReason(code, host);
    const hint = code === 'EHOSTUNREACH' ? getLocalNetworkHint(`${host} ${address}`, platform) : '';
    return hint === '' ? reason : m.fetchFailedHint({ reason, hint });
  };
  return new Problem('fetch.failed', 502, text, cause);
}

function formatReason(code: string, host: string): string {
  const format = reasons[code];
  if (format !== undefined) return format({ host });
  return code === '' ? m.fetchFailed({ host }) : m.fetchFailedCode({ host, code });
}

const reasons: Readonly<Record<string, (values: { readonly host: string }) => string>> = {
  ENOTFOUND: m.hostNotFound,
  EAI_AGAIN: m.hostNotResolved,
  ECONNREFUSED: m.connectionRefused,
  ECONNRESET: m.connectionLost,
  EHOSTUNREACH: m.hostUnreachable,
  UND_ERR_SOCKET: m.connectionLost,
  UND_ERR_HEADERS_OVERFLOW: m.headersTooLarge,
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
