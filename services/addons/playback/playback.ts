import type { Context } from '../../contracts/service.ts';
import type { AddonMetrics } from '../metrics.ts';
import type { Profiles } from '../profiles/profiles.ts';
import type { ProviderPool } from '../providers/provider-pool.ts';
import { PlayHistory } from '../store/plays.ts';
import { Fallbacks } from './fallbacks.ts';
import { PlaybackLinks } from './links.ts';
import { Player } from './player.ts';

/** Playback of results: links to them, alternatives and the history. */
export interface Playback {
  readonly links: PlaybackLinks;
  readonly fallbacks: Fallbacks;
  readonly history: PlayHistory;
  readonly player: Player;
}

interface PlaybackCollaborators {
  readonly metrics: AddonMetrics;
  readonly pool: ProviderPool;
  readonly profiles: Profiles;
}

export function createPlayback(context: Context, { metrics, pool, profiles }: PlaybackCollaborators): Playback {
  const { clock, log } = context;
  const links = new PlaybackLinks(profiles);
  const fallbacks = new Fallbacks(links);
  const history = new PlayHistory(context);
  return { links, fallbacks, history, player: new Player({ clock, log, metrics, pool, history, fallbacks }) };
}
