import type { AddonProfile } from '../../../../../services/contracts/addons/api.ts';
import { buildPath } from '../../../state/page-path.ts';

/** Builds the path of the page that installs a configuration in a player. */
export function buildConnectPath({ uuid }: AddonProfile): string {
  return `${buildPath({ service: 'addons', section: 'connect' })}?configuration=${encodeURIComponent(uuid)}`;
}
