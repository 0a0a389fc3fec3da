import type { TopicSound } from '../../../../services/contracts/push/topic-preferences.ts';

/** Sound that a page plays itself. */
export type WebSound = Exclude<TopicSound, 'default' | 'silent'>;

/** Tone of a sound. Times are in seconds from the start of the sound. */
interface Tone {
  readonly type: OscillatorType;
  /** Frequency in Hz. */
  readonly frequency: number;
  readonly start: number;
  readonly duration: number;
  /** Volume at the start of the tone, from 0 to 1. */
  readonly volume: number;
}

/** Sounds are computed, so that no audio files are needed. */
const sounds: Readonly<Record<WebSound, readonly Tone[]>> = {
  bell: [
    { type: 'sine', frequency: 880, start: 0, duration: 1.2, volume: 0.3 },
    { type: 'sine', frequency: 2217, start: 0, duration: 0.6, volume: 0.12 },
    { type: 'sine', frequency: 3520, start: 0, duration: 0.3, volume: 0.06 },
  ],
  chime: [
    { type: 'sine', frequency: 1047, start: 0, duration: 0.5, volume: 0.25 },
    { type: 'sine', frequency: 1319, start: 0.14, duration: 0.5, volume: 0.25 },
    { type: 'sine', frequency: 1568, start: 0.28, duration: 0.9, volume: 0.25 },
  ],
  knock: [
    { type: 'triangle', frequency: 180, start: 0, duration: 0.09, volume: 0.6 },
    { type: 'triangle', frequency: 170, start: 0.18, duration: 0.09, volume: 0.6 },
  ],
  horn: [
    { type: 'sawtooth', frequency: 147, start: 0, duration: 0.9, volume: 0.16 },
    { type: 'sawtooth', frequency: 220, start: 0, duration: 0.9, volume: 0.1 },
  ],
};

/** Volume at the end of a tone; exponential ramps cannot reach 0. */
const silence = 0.0001;
const attackSeconds = 0.01;

let context: AudioContext | undefined;

export function isWebSound(sound: TopicSound): sound is WebSound {
  return Object.hasOwn(sounds, sound);
}

/** Plays a sound. @throws DOMException if the browser refuses sounds before the first click in the page. */
export async function playSound(sound: WebSound): Promise<void> {
  context ??= new AudioContext();
  if (context.state !== 'running') await context.resume();
  for (const tone of sounds[sound]) playTone(context, tone);
}

function playTone(audio: AudioContext, { type, frequency, start, duration, volume }: Tone): void {
  const begin = audio.currentTime + start;
  const oscillator = new OscillatorNode(audio, { type, frequency });
  const gain = new GainNode(audio, { gain: silence });
  gain.gain.setValueAtTime(silence, begin);
  gain.gain.exponentialRampToValueAtTime(volume, begin + attackSeconds);
  gain.gain.exponentialRampToValueAtTime(silence, begin + duration);
  oscillator.connect(gain).connect(audio.destination);
  oscillator.start(begin);
  oscillator.stop(begin + duration);
}
