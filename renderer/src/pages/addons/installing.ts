import type { AddonProfile } from '../../../../services/contracts/addons/api.ts';
import { pathOf } from '../../state/page-path.ts';

/** Where a configuration is brought into a player. */
export function installing({ uuid }: AddonProfile): string {
  return `${pathOf({ service: 'addons', thing: 'connect' })}?configuration=${encodeURIComponent(uuid)}`;
}
