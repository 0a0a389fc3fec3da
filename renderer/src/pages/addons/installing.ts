import type { AddonProfile } from '../../../../services/contracts/addons/api.ts';
import { buildPath } from '../../state/page-path.ts';

/** Where a configuration is brought into a player. */
export function installing({ uuid }: AddonProfile): string {
  return `${buildPath({ service: 'addons', section: 'connect' })}?configuration=${encodeURIComponent(uuid)}`;
}
