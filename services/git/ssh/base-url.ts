import type { Context } from '../../contracts/service.ts';
import type { Settings } from '../settings.ts';

/**
 * Returns the base of SSH URLs, such as `ssh://git@host:2222`. The host is that of the setting, or that of the HTTP
 * address of the client.
 */
export function getSshBase(
  context: Pick<Context, 'address'>,
  { sshHost }: Pick<Settings, 'sshHost'>,
  base: string,
): string {
  const { port } = new URL(context.address('git', 'ssh') ?? 'ssh://127.0.0.1:2222');
  const host = sshHost === '' ? new URL(base).hostname : sshHost;
  return `ssh://git@${host}${port === '' || port === '22' ? '' : `:${port}`}`;
}
