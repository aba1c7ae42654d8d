import { tron } from '#test/chains/conformance/tron.ts';
import { cashoutSurvivesSigkill } from './cashout-crashes.ts';

cashoutSurvivesSigkill(tron);
