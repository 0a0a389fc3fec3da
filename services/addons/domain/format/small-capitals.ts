const letters = 'abcdefghijklmnopqrstuvwxyz';
const capitals = [...'ᴀʙᴄᴅᴇғɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡxʏᴢ'];
const map = new Map([...letters].map((letter, index) => [letter, capitals[index] ?? letter]));

/** Converts a text to small capitals, such as `ᴇɴ`. */
export function toSmallCapitals(text: string): string {
  return [...text].map((letter) => map.get(letter.toLowerCase()) ?? letter).join('');
}
