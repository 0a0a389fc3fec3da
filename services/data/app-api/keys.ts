import * as m from '#messages/data-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { dataKeysApi, type DataKeys } from '../../contracts/data/keys.ts';
import { Problem } from '../../contracts/problem.ts';
import type { Keys } from '../keys/keys.ts';
import { getDirectPort, type Settings } from '../settings.ts';

interface KeyRouteOptions {
  readonly keys: Keys;
  readonly settings: Pick<Settings, 'databaseUrl' | 'directPassword' | 'directPort' | 'jwtExpiry'>;
}

/** Creates the routes that show, rotate and sign with keys. */
export function createKeyRoutes({ keys, settings }: KeyRouteOptions): readonly ApiHandler[] {
  const getKeys = (): DataKeys => {
    const { pair, earlier } = keys.signing;
    return {
      anon: keys.anonKey,
      service: keys.serviceKey,
      publishable: keys.opaque.anon,
      secret: keys.opaque.service_role,
      canRotate: keys.canRotate,
      pair: pair === undefined ? null : { kid: pair.kid, madeAt: pair.madeAt },
      earlier: earlier.map(({ kid, endsAt }) => ({ kid, endsAt: endsAt ?? 0 })),
      tokenSeconds: settings.jwtExpiry,
      directPort: settings.databaseUrl === '' ? getDirectPort(settings) : null,
    };
  };
  return [
    implement(dataKeysApi.keys, () => getKeys()),
    implement(dataKeysApi.rotate, async ({ body: { key } }) => {
      if (key !== 'all') await keys.rotateOpaque(key === 'secret' ? 'service_role' : 'anon');
      else if (keys.canRotate) await keys.rotate();
      else throw new Problem('data.secret_is_set', 409, m.secretInSettings());
      return getKeys();
    }),
    implement(dataKeysApi.sign, async ({ body }) => {
      await keys.signWith(body.with);
      return getKeys();
    }),
    implement(dataKeysApi.endEarlier, async () => {
      await keys.endEarlier();
      return getKeys();
    }),
  ];
}
