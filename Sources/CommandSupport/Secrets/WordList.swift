/// The words for generated passphrases.
///
/// There are 1,296 words, six to the fourth power: a word has 10.3 bits of entropy and can be chosen with four dice.
/// They are English nouns and adjectives of three to seven lower-case letters. Any two differ in at least two letters,
/// and in their first four letters.
package enum WordList {
  /// The number of words.
  package static let count = 1296

  /// All words, separated by single spaces: static data that needs no initialization.
  private static let text: StaticString = """
    abacus academy account acorn acre actor adapt admit adobe adult advent aerial agent airfoil airport \
    alarm album alcove alder algae algebra alibi alley almanac almond alpaca alpine amateur amber \
    ambient anchor ancient angle animal annex answer anthem antique antler anvil apology apple april \
    apron aquatic arbor arcade arch arctic arena argue army aroma arrow artist ascend ashtray aspen \
    asphalt astral atlas atom attempt attic auburn auction audible august author autumn avenue average \
    aviator avocado awning axis azure bacon badge bagel bagpipe bakery balance balcony ballad bamboo \
    banana banjo banner barber bargain barley barn barrel basil basket bathtub battery bauble beach \
    beagle beaver bedrock beehive beeswax beetle begin belfry bell berry bicycle bingo biology birch \
    biscuit bishop bison blanket blaze blimp block bloom blossom blouse blue board boating bobbin bobcat \
    bonanza bonfire bonsai bonus bookend border borough bottle boulder bounce bouquet bowling bowtie \
    boxcar bracket brake branch brass bravo breeze brewery brick bridge brief bronze brother brownie \
    bubble bucket budget buffalo bugle builder bulldog bumper bundle bungee burger burrow bushel butler \
    button buzzer cabbage cabin cable cactus cadet cake calcium calypso camel campus canal candid \
    cannery canoe cantata canyon capital captain caramel carbon cargo caribou carpet carrot cartoon \
    cascade cashew casino castle catalog catfish cathode caution cavalry cedar celery cello cement \
    center ceramic cereal chair chalk chamber channel chapter charm chateau cheddar cheese cherry chess \
    chicken chime chisel chorus chowder chrome cider cinema circle citadel citizen civic clarity classic \
    clay clever cliff climate clinic coach coal coast cobalt cobbler cockpit coconut coffee collie \
    colony column combine comet comfort comma compass concert condor conifer console contour convoy \
    copilot copper cordial cork corner coronet cosmos costume cotton cougar council couple courage \
    cousin cowboy coyote crackle cradle crater crayon credit creek cricket crimson crisp critic crocus \
    crouton crown cruise crumb crystal cube cuckoo cuisine culture cupcake cupola curator curious \
    currant cursor curtain curve cushion custard cycle cymbal cypress dahlia dairy dancer dapper daring \
    dashing dawn dealer debut decade decimal deer default degree delight delta denim dentist deposit \
    derby desert design desk detail detour develop dewdrop diagram dialect diamond digital dignity dime \
    dinner diploma disco dish display distant divide dock doctor dollar dolphin domain domino donkey \
    doodle dormant double dough dove dozen drafty dragon drama drapery drawer dream drift drizzle drum \
    duffel dune durable dust dwarf dynamo eager eardrum earring earth easel east echo eclipse ecology \
    editor eel eggnog eighty elastic elbow elegant element elf embassy emblem emerald emotion empathy \
    empire enamel encore endless energy engine enigma enjoy enrich ensign entry epic episode equator \
    equinox era errand escape essay essence estuary ethics event evident exact exam exhibit exit exotic \
    expert explore extra eyebrow fabric facade fairway fajita falcon family famous fancy farmer fashion \
    father feature feline fence fennel fern ferret fervent fetch fiber fiction fiddle field fig figure \
    filter finale finger finish firefly fiscal fitness fixture flag flame flannel flask flavor fleece \
    flicker flint floral flower fluid flurry flute foam focus foggy folder foliage forage forest formula \
    fortune forum fossil fox foyer fragile frantic freckle freedom freight fresh friend frigate fringe \
    frog frost frozen fruit fudge fungus furnace future fuzzy gadget galaxy gallon garage garden garlic \
    garment garnet gazebo gearbox gecko gem general genius gentle geology gerbil geyser giant gibbon \
    giggle giraffe glacier glade glass gleam glider glimmer globe glossy glowing gnome goat goblet \
    goggles golden golf gondola goose gopher gorilla gospel gossip gourmet grammar granite grape gravy \
    great green grid griffin grocery groove ground guest guide guitar gully gumdrop guppy gymnast gypsum \
    habitat haddock haiku hairpin halibut hallway halo hamlet hammer hamster hangar harmony harness harp \
    harvest hatchet hawk hazel headset health heart heather hedge height helium helmet helper hemlock \
    herald herbal hermit heron hexagon hickory highway hiking hill hinge hippo history hobby hockey \
    hoist holiday holly home honey hood hopeful horizon hornet horse hostel hotspot hourly hubcap huddle \
    human humble humid hummus hundred hunter husky hydrant hyena hymn iceberg icicle icon idea idle \
    igloo iguana image impact import impress impulse inbox inch income index indoor infant ingot inherit \
    inlet input insect inside intro invent invite iris island itself ivory ivy jacket jade jaguar jasper \
    jazz jelly jersey jester jewel jigsaw jogger joker jovial joyful juice july jumbo jungle junior \
    karate karma kayak kelp kernel kettle khaki kimono kindle kiosk kite kitten kiwi knight knob koala \
    krill label labor ladder ladle lagoon laptop large lark laser lasso latch laurel lava leader leaf \
    league ledger leeway legend legume lemon lemur length lens lentil lesson letter level lilac lily \
    limber limit linen lion liquid listen litmus lizard llama local locket locust lodge logic lotion \
    lotus lounge lucky lunar lunch luxury lyric magic magma magnet magpie maize major mallet mammal \
    mango mantle manual maple marble margin marina market marvel mascot mason master matrix meadow medal \
    medley mellow melon member memoir mentor menu merit meteor method metro midday milk minnow mint \
    minute mirror mixer mobile mocha model module molar moment monday month mop mortar mosaic moss \
    mother motor mouse movie muffin mural muscle museum music mutual muzzle myrtle myth nacho napkin \
    nation nature navy nebula nectar needle neon nephew nest newton nickel nimble nine ninja noble nomad \
    north novel nozzle nugget number nurse nutmeg nylon oak oasis object obtain ocean ocelot octave \
    office often olive omega omelet onion online onward onyx opal opera optic oracle orange orbit orchid \
    organ oriole osprey otter outfit outlet oven owl owner oxygen oyster ozone paddle pagoda pajama \
    palace palm panda panel pansy pantry papaya parade parcel pardon parlor pasta patent path patio \
    patrol peanut pearl pebble pecan pencil pepper period petal phone photo phrase piano pickle picnic \
    pigeon piglet pillow pilot pirate piston pizza plaid planet plaza plenty plow plum plural podium \
    poem poetry point police polka pollen polo poncho pond poplar poppy porch portal potato powder \
    praise prefix prince prism profit proton proud public pulley puppet purple python quail quart queen \
    quench query quiche quiet quill quinoa quiver quiz quota rabbit radar radio raft raisin rally random \
    rapids rascal raven razor reason rebate recipe record reef reflex refuge regal region relax relic \
    remedy remote renew renown repair rescue resort result return reward rhino rhyme rhythm rice rigid \
    ring ripple river robin robot rodeo roller rotate royal rubber ruby rudder ruffle ruler runway \
    russet rustic safari safety saga sailor salad salmon salsa salute sample sandal satin saturn sauce \
    sauna savory scarf scenic school scout screen script second secret select senate senior sequel \
    sesame seven shadow shape shelf shield shovel shrimp siesta signal silver siren sister sketch slalom \
    sleepy sleigh slogan slope sloth smile smoky smooth snack snail soccer social soda solid sonar \
    sonnet sorbet soup source south space speech sphere spider spiffy splash spoke sponge spoon sport \
    spring spruce squad stable staff stairs stamp statue steam stereo stitch stone stool storm street \
    stripe strong studio sturdy submit suburb subway sudden suede sugar summer sunday sunset supper \
    survey sushi swan swift swim swivel sword symbol syrup system tablet tackle taco talent tamale \
    tandem tanker target tartan tassel taxi teacup teapot tempo tenant tennis tenor thank theme theory \
    thorn thread thrill throne thumb tiara tidal tiger timid tinsel tiptoe titan token tomato topaz \
    topic total totem toucan towel toybox track trader trail tree trench trio tripod trophy trunk truth \
    tuba tulip tundra tunnel turkey turnip turtle tutor tuxedo twelve twenty twig twist tycoon typist \
    ultra uncle under unique unit upbeat update uphill uplift upward urchin urgent usable useful usual \
    utopia vacuum valve vanish vapor vault vector velvet vendor verify vertex vessel video view vigor \
    villa vinyl violet vista vivid volley volume voyage waffle wagon waiter walnut walrus waltz wander \
    warm washer wasp wave web welder whale wheat wheel wicker widget width wigwam wild window winery \
    winter wisdom wombat wool world wrap wreath wren wrist yacht yam year yoga yogurt yolk young zebra \
    zenith zephyr zero zesty zigzag zinc zipper zodiac
    """

  /// Returns the bytes of one word.
  ///
  /// - Parameter index: from 0 to `count` - 1, in alphabetical order.
  package static func word(_ index: Int) -> [UInt8] {
    precondition((0..<count).contains(index), "the index is out of range")
    let bytes = unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    var position = 0
    for _ in 0..<index {
      while unsafe bytes[position] != UInt8(ascii: " ") { position += 1 }
      position += 1
    }
    return unsafe Array(bytes[position...].prefix { $0 != UInt8(ascii: " ") })
  }
}
