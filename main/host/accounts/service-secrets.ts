import { createHmac } from 'node:crypto';
import type { Accounts } from '../../../services/contracts/control/accounts.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Random } from '../../../services/contracts/service.ts';
import type { SecurityLog } from '../log/security-log.ts';
import { LruMap } from '../../../services/kit/lru-map.ts';
import type { SignInThrottle } from './sign-in-throttle.ts';
import { getSource } from './source.ts';

export interface ServiceSecretDependencies {
  readonly throttle: SignInThrottle;
  readonly random: Random;
  readonly security: SecurityLog;
}

/**
 * Checks secrets that services store themselves, such as the logins of the mail gateway, with the throttle of
 * passwords.
 */
export function serviceSecrets({
  throttle,
  random,
  security,
}: ServiceSecretDependencies): Pick<Accounts, 'checkSecret'> {
  const key = random.bytes(32);
  /** Latest result per secret; computed again for each call, since it is cheap and may change. */
  const answers = new LruMap<string, boolean>(2000);

  const check: Accounts['checkSecret'] = async ({ service, name, secret, remoteAddress }, isRight) => {
    const attempt = { source: getSource({ remoteAddress }), name: `${service}\0${name}` };
    const id = createHmac('sha256', key).update(`${attempt.source}\0${attempt.name}\0${secret}`).digest('base64');
    const before = answers.get(id);
    if (before === false && !(await isRight())) return false;
    if (before === true && throttle.trusts(attempt) && (await isRight())) return true;
    using turn = await throttle.begin(attempt);
    const right = await isRight();
    answers.set(id, right);
    if (right) turn.succeed();
    else turn.fail();
    return right;
  };

  return {
    async checkSecret(attempt, isRight) {
      const event = {
        account: attempt.name,
        address: attempt.remoteAddress,
        service: attempt.service,
        by: attempt.name,
      };
      try {
        const right = await check(attempt, isRight);
        // The sign-in itself is recorded when its session opens.
        if (right && attempt.service === 'second-factor') return true;
        if (right) security.recordUse({ ...event, detail: 'service secret' }, 'secret');
        else security.record({ ...event, event: 'sign_in_failed' });
        return right;
      } catch (error) {
        if (error instanceof Problem) security.record({ ...event, event: 'sign_in_blocked' });
        throw error;
      }
    },
  };
}
