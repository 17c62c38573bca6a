/**
 * Nomad interprets `${…}` and `%{…}` in what it hands to a driver, and `${…}` of a name that it knows in the values of
 * variables. What came from users must arrive as it is, and must not be a way to learn of the node.
 */

/** As a value in the configuration of a driver. */
export const literal = (text: string): string => text.replace(/[$%]\{/g, (mark) => mark.charAt(0) + mark);

/** Meta of a task that says `$`, for there is no escape in the values of variables. It is known before they are. */
const DOLLAR = 'dollar';
export const DOLLAR_META = { [DOLLAR]: '$' };

/** As the value of a variable of a task that has `DOLLAR_META`. */
export const literalValue = (text: string): string => text.replaceAll('${', `\${NOMAD_META_${DOLLAR}}{`);

export const isInterpreted = (text: string): boolean => text.includes('${');
