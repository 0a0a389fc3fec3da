import { createHmac } from 'node:crypto';
import { isSameSecret } from '../../kit/same-secret.ts';

/** Headers with an HMAC-SHA256 of the body in hex, after what may stand before it. */
const signatureHeaders: readonly (readonly [header: string, before: string])[] = [
  // Gitea, Forgejo and Gogs: https://docs.gitea.com/usage/webhooks
  ['x-gitea-signature', ''],
  ['x-forgejo-signature', ''],
  ['x-gogs-signature', ''],
  // GitHub: https://docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries
  ['x-hub-signature-256', 'sha256='],
  ['x-grafana-alerting-signature', ''],
];

/** Whether the sender of a request knows a secret. `none`: it does not say so. */
export type SignatureResult = 'good' | 'wrong' | 'none';

/**
 * Looks for a signature of the body, or for the secret itself as GitLab sends it. `texts` are what may have been signed: the
 * body, and the JSON in a form, which Gitea signs alone.
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
