import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../kit/same-secret.ts';

/** Headers that contain an HMAC-SHA256 of the body in hexadecimal, with the prefix of the value. */
const signatureHeaders: readonly (readonly [header: string, before: string])[] = [
  // Gitea, Forgejo and Gogs: https://docs.gitea.com/usage/webhooks
  ['x-gitea-signature', ''],
  ['x-forgejo-signature', ''],
  ['x-gogs-signature', ''],
  // GitHub: https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
  ['x-hub-signature-256', 'sha256='],
  ['x-grafana-alerting-signature', ''],
];

/** Result of a signature check; `none`: the request has neither signature nor token. */
export type SignatureResult = 'good' | 'wrong' | 'none';

/**
 * Checks a signature of the body, or the secret itself, which GitLab sends. `texts`: the body, and the JSON inside of
 * a form, which Gitea signs separately.
 */
export function checkSignature(
  header: (name: string) => string | undefined,
  secret: string,
  texts: readonly (string | Uint8Array)[],
): SignatureResult {
  let hasSignature = false;
  for (const [name, prefix] of signatureHeaders) {
    const value = header(name)?.trim();
    if (value === undefined || value === '') continue;
    hasSignature = true;
    const matches = (text: string | Uint8Array): boolean =>
      isSameSecret(value.toLowerCase(), prefix + createHmac('sha256', secret).update(text).digest('hex'));
    if (texts.some(matches)) return 'good';
  }
  const token = header('x-gitlab-token');
  if (token !== undefined) {
    hasSignature = true;
    if (isSameSecret(token, secret)) return 'good';
  }
  return hasSignature ? 'wrong' : 'none';
}
