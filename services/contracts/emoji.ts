/** The pictures notifications use most, by the short codes that ntfy, Apprise and chats have in common. */
export const pictures: Readonly<Record<string, string>> = {
  ...{ warning: '⚠️', rotating_light: '🚨', skull: '💀', fire: '🔥', boom: '💥', bug: '🐛', no_entry: '⛔', sos: '🆘' },
  ...{ no_entry_sign: '🚫', stop_sign: '🛑', radioactive: '☢️', biohazard: '☣️', construction: '🚧', bomb: '💣' },
  ...{ x: '❌', heavy_check_mark: '✔️', white_check_mark: '✅', tada: '🎉', partying_face: '🥳', rocket: '🚀' },
  ...{ ballot_box_with_check: '☑️', exclamation: '❗', bangbang: '‼️', question: '❓', grey_question: '❔' },
  ...{
    heavy_plus_sign: '➕',
    heavy_minus_sign: '➖',
    sparkles: '✨',
    star: '⭐',
    star2: '🌟',
    trophy: '🏆',
    dart: '🎯',
  },
  ...{ '+1': '👍', '-1': '👎', thumbsup: '👍', thumbsdown: '👎', ok_hand: '👌', wave: '👋', eyes: '👀', clap: '👏' },
  ...{ pray: '🙏', muscle: '💪', point_right: '👉', raised_hands: '🙌', facepalm: '🤦', shrug: '🤷', heart: '❤️' },
  ...{ green_heart: '💚', blue_heart: '💙', yellow_heart: '💛', broken_heart: '💔', '100': '💯', zzz: '💤' },
  ...{ smile: '😄', grinning: '😀', smiley: '😃', wink: '😉', joy: '😂', thinking: '🤔', cry: '😢', sob: '😭' },
  ...{ rage: '😡', scream: '😱', sleeping: '😴', sunglasses: '😎', dizzy_face: '😵', mask: '😷', hankey: '💩' },
  ...{ loudspeaker: '📢', mega: '📣', bell: '🔔', no_bell: '🔕', speech_balloon: '💬', email: '📧', envelope: '✉️' },
  ...{ incoming_envelope: '📨', inbox_tray: '📥', outbox_tray: '📤', mailbox: '📫', telephone: '☎️', phone: '☎️' },
  ...{ computer: '💻', desktop_computer: '🖥️', keyboard: '⌨️', printer: '🖨️', floppy_disk: '💾', cd: '💿', dvd: '📀' },
  ...{ minidisc: '💽', battery: '🔋', electric_plug: '🔌', bulb: '💡', flashlight: '🔦', wastebasket: '🗑️' },
  ...{ lock: '🔒', unlock: '🔓', key: '🔑', shield: '🛡️', hammer: '🔨', wrench: '🔧', gear: '⚙️', package: '📦' },
  ...{ memo: '📝', clipboard: '📋', pushpin: '📌', paperclip: '📎', file_folder: '📁', open_file_folder: '📂' },
  ...{ page_facing_up: '📄', books: '📚', bookmark: '🔖', label: '🏷️', newspaper: '📰', link: '🔗', mag: '🔍' },
  ...{ house: '🏠', office: '🏢', factory: '🏭', door: '🚪', car: '🚗', truck: '🚚', bike: '🚲', train: '🚆' },
  ...{ airplane: '✈️', ship: '🚢', ambulance: '🚑', fire_engine: '🚒', police_car: '🚓', checkered_flag: '🏁' },
  ...{ camera: '📷', video_camera: '📹', movie_camera: '🎥', clapper: '🎬', tv: '📺', radio: '📻', iphone: '📱' },
  ...{ musical_note: '🎵', headphones: '🎧', microphone: '🎤', satellite: '📡', globe: '🌐', earth_africa: '🌍' },
  ...{ globe_with_meridians: '🌐', sunny: '☀️', sun: '☀️', cloud: '☁️', snowflake: '❄️', zap: '⚡', droplet: '💧' },
  ...{ umbrella: '☔', rainbow: '🌈', thermometer: '🌡️', ocean: '🌊', seedling: '🌱', evergreen_tree: '🌲' },
  ...{ clock: '🕰️', hourglass: '⌛', hourglass_flowing_sand: '⏳', alarm_clock: '⏰', stopwatch: '⏱️', watch: '⌚' },
  ...{ calendar: '📆', date: '📅', moneybag: '💰', credit_card: '💳', shopping_cart: '🛒', gift: '🎁', birthday: '🎂' },
  ...{ coffee: '☕', beer: '🍺', pizza: '🍕', apple: '🍎', cake: '🍰', pill: '💊', syringe: '💉', test_tube: '🧪' },
  ...{
    dog: '🐶',
    cat: '🐱',
    bird: '🐦',
    whale: '🐳',
    penguin: '🐧',
    snake: '🐍',
    crab: '🦀',
    robot: '🤖',
    ghost: '👻',
  },
  ...{ red_circle: '🔴', green_circle: '🟢', yellow_circle: '🟡', orange_circle: '🟠', large_blue_circle: '🔵' },
  ...{
    purple_circle: '🟣',
    white_circle: '⚪',
    black_circle: '⚫',
    information_source: 'ℹ️',
    new: '🆕',
    ok: '🆗',
    up: '🆙',
  },
  ...{
    arrow_up: '⬆️',
    arrow_down: '⬇️',
    arrow_left: '⬅️',
    arrow_right: '➡️',
    arrows_counterclockwise: '🔄',
    repeat: '🔁',
  },
  ...{ leftwards_arrow_with_hook: '↩️', recycle: '♻️', chart_with_upwards_trend: '📈', bar_chart: '📊' },
  ...{ chart_with_downwards_trend: '📉' },
};

const codes = new RegExp(
  `:(${Object.keys(pictures)
    .map((code) => code.replace('+', '\\+'))
    .join('|')}):`,
  'gi',
);

/** The text with `:rocket:` and the like as pictures, in any case; codes nobody knows stay as they are. */
export function withPictures(text: string): string {
  return text.replace(codes, (written, code: string) => pictures[code.toLowerCase()] ?? written);
}
