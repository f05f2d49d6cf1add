<?php
// php classmap.php FOLDER: writes vendor/autoload.php for a plugin from its source, whose build would write it with Composer. It loads
// the classes of the folders that the plugin's composer.json names.
list( , $folder ) = $argv;
$plan             = json_decode( file_get_contents( "$folder/composer.json" ), true );
$map              = array();
foreach ( $plan['autoload']['classmap'] as $part ) {
	foreach ( new RecursiveIteratorIterator( new RecursiveDirectoryIterator( "$folder/$part" ) ) as $file ) {
		if ( 'php' !== $file->getExtension() ) {
			continue;
		}
		$space  = '';
		$tokens = array_values( array_filter( token_get_all( file_get_contents( $file ) ), static fn( $one ) => ! is_array( $one ) || T_WHITESPACE !== $one[0] ) );
		foreach ( $tokens as $at => $token ) {
			$next = $tokens[ $at + 1 ] ?? null;
			if ( ! is_array( $token ) || ! is_array( $next ) ) {
				continue;
			}
			if ( T_NAMESPACE === $token[0] ) {
				$space = $next[1] . '\\';
			} elseif ( in_array( $token[0], array( T_CLASS, T_INTERFACE, T_TRAIT ), true ) && T_STRING === $next[0] ) {
				$map[ $space . $next[1] ] = (string) $file;
			}
		}
	}
}
@mkdir( "$folder/vendor" );
$text = '<?php spl_autoload_register( static function ( $name ) { static $map = ' . var_export( $map, true ) . "; isset( \$map[ \$name ] ) && require \$map[ \$name ]; } );\n";
file_put_contents( "$folder/vendor/autoload.php", $text );
