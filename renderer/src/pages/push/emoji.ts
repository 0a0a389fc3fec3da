/** Tags that clients of the peer show as a picture: its short codes that notifications use most. */
const pictures: Readonly<Record<string, string>> = {
  ...{ warning: '⚠️', rotating_light: '🚨', skull: '💀', fire: '🔥', boom: '💥', bug: '🐛', no_entry: '⛔', sos: '🆘' },
  ...{ x: '❌', heavy_check_mark: '✔️', white_check_mark: '✅', tada: '🎉', partying_face: '🥳', rocket: '🚀' },
  ...{ '+1': '👍', '-1': '👎', thumbsup: '👍', ok_hand: '👌', wave: '👋', eyes: '👀', facepalm: '🤦', heart: '❤️' },
  ...{ loudspeaker: '📢', bell: '🔔', no_bell: '🔕', speech_balloon: '💬', email: '📧', incoming_envelope: '📨' },
  ...{ computer: '💻', floppy_disk: '💾', cd: '💿', minidisc: '💽', battery: '🔋', electric_plug: '🔌', bulb: '💡' },
  ...{ lock: '🔒', unlock: '🔓', key: '🔑', shield: '🛡️', hammer: '🔨', wrench: '🔧', gear: '⚙️', package: '📦' },
  ...{ house: '🏠', door: '🚪', car: '🚗', camera: '📷', tv: '📺', iphone: '📱', satellite: '📡', globe: '🌐' },
  ...{ sunny: '☀️', sun: '☀️', cloud: '☁️', snowflake: '❄️', zap: '⚡', droplet: '💧', thermometer: '🌡️', ocean: '🌊' },
  ...{ clock: '🕰️', hourglass: '⌛', alarm_clock: '⏰', stopwatch: '⏱️', calendar: '📅', moneybag: '💰', coffee: '☕' },
  ...{ dog: '🐶', cat: '🐱', robot: '🤖', ghost: '👻', star: '⭐', information_source: 'ℹ️', question: '❓' },
  ...{
    red_circle: '🔴',
    green_circle: '🟢',
    yellow_circle: '🟡',
    large_blue_circle: '🔵',
    arrow_up: '⬆️',
    arrow_down: '⬇️',
  },
  ...{ chart_with_upwards_trend: '📈', chart_with_downwards_trend: '📉', bar_chart: '📊', mag: '🔍', link: '🔗' },
};

/** The tag's picture before its name, or the tag as it is. */
export function tagWords(tag: string): string {
  const picture = Object.hasOwn(pictures, tag) ? pictures[tag] : undefined;
  return picture === undefined ? tag : `${picture} ${tag}`;
}

/** Tags with a picture whose name has this in it, those that begin with it first; six at most. */
export function suggestTags(fragment: string): readonly string[] {
  if (fragment === '' || Object.hasOwn(pictures, fragment)) return [];
  const fitting = Object.keys(pictures).filter((name) => name.includes(fragment));
  return fitting.sort((a, b) => Number(b.startsWith(fragment)) - Number(a.startsWith(fragment))).slice(0, 6);
}
